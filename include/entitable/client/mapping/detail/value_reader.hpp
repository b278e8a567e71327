// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `value_reader`: reads the stored values of a row into members. Its code for common member types is inlined.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/property_type.hpp>
#include <entitable/core/result.hpp>
#include <entitable/core/row/format.hpp>

#include <bit>
#include <cstring>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// One property of a descriptor.
struct described_property {
    edm_type type;
    bool nullable;
};

/// Target of a property's value.
struct value_target {
    void* to;
    /// Takes a value, or null for an absent value; false if it does not fit.
    bool (*take)(void* to, value_view const* value);
};

/// Assigns `text` to `to`, which usually holds a different text of similar size. `text` must not be part of `to`.
inline void assign_text(std::string& to, std::string_view text) {
    if (text.size() <= to.size() && !text.empty()) { // this costs a third of an assignment
        std::memcpy(to.data(), text.data(), text.size());
        to.erase(text.size());
    } else if (text.size() <= to.capacity()) {
        to.clear();
        to.append(text); // cheaper than an assignment, which looks whether the text is part of the string
    } else {
        to = std::string{text}; // cheaper than growing a buffer whose content is discarded
    }
}

/// Reads the values of a row with the entity's own descriptor, one after the other.
class value_reader {
public:
    /// `payload` must have that descriptor.
    value_reader(std::string_view payload, std::size_t descriptor_size) noexcept
        : at_(payload.data() + row_format::header_size + descriptor_size), end_(payload.data() + payload.size()) {}

    /// Reads the next value into a member of the C++ type of its EDM type.
    template <class T>
    void take(T& to) {
        if (!has(row_format::fixed_size(property_type<T>::type))) { return; }
        if constexpr (std::is_same_v<T, guid>) {
            std::memcpy(to.bytes.data(), at_, to.bytes.size());
        } else if constexpr (std::is_same_v<T, date_time>) {
            to.ticks = row_format::load<std::int64_t>(at_);
        } else if constexpr (std::is_same_v<T, double>) {
            to = std::bit_cast<double>(row_format::load<std::int64_t>(at_));
        } else if constexpr (std::is_same_v<T, bool>) {
            to = *at_ != 0;
        } else {
            to = row_format::load<T>(at_);
        }
        at_ += row_format::fixed_size(property_type<T>::type);
    }
    void take(std::string& to) { assign_text(to, take_bytes()); }
    /// Reads the next value, of property `index`, into any other member.
    ENTITABLE_LAZY void take(value_target const& target, described_property property, std::size_t index);

    /// Skips `size` bytes of fixed-size values.
    void pass(std::size_t size) noexcept { at_ += has(size) ? size : 0; }
    /// Does the same, and skips a text or binary after them.
    void pass_with_text(std::size_t size) noexcept {
        if (has(size + 4)) {
            at_ += size + 4;
            pass(row_format::load<std::uint32_t>(at_ - 4));
        }
    }
    /// Reads whether the next value, which is nullable, is present.
    [[nodiscard]] bool take_presence() noexcept { return has(1) && *at_++ != 0; }

    /// Returns success, or the reason why the row does not fit.
    [[nodiscard]] result<void> finish(std::string_view const* names, std::string_view entity) const {
        bool const good = !damaged_ && at_ == end_ && offender_ == none;
        return good ? result<void>{} : problem(names, entity);
    }

private:
    static constexpr std::size_t none = ~std::size_t{0};

    ENTITABLE_LAZY [[nodiscard]] failure problem(std::string_view const* names, std::string_view entity) const;

    [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
    [[nodiscard]] bool has(std::size_t size) noexcept {
        if (left() >= size) { return true; }
        damaged_ = true;
        at_ = end_;
        return false;
    }
    [[nodiscard]] std::string_view take_bytes() noexcept {
        if (!has(4)) { return {}; }
        std::size_t const size = row_format::load<std::uint32_t>(at_);
        at_ += 4;
        if (!has(size)) { return {}; }
        at_ += size;
        return {at_ - size, size};
    }

    char const* at_;
    char const* end_;
    std::size_t offender_{none};
    edm_type offending_{}; // type of the value at fault
    bool damaged_{false};
};

/// Whether a payload has this descriptor.
[[nodiscard]] inline bool has_descriptor(std::string_view payload, std::string_view descriptor) noexcept {
    return payload.size() >= row_format::header_size + descriptor.size() &&
        static_cast<unsigned char>(payload[0]) == row_format::version &&
        row_format::load<std::uint32_t>(payload.data() + 4) == descriptor.size() &&
        (descriptor.empty() ||
            std::memcmp(payload.data() + row_format::header_size, descriptor.data(), descriptor.size()) == 0);
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/mapping/impl/value_reader.ipp>
#endif

#endif
