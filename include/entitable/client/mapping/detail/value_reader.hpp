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
#include <new>
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
    } else { // cheaper than growing a buffer whose content is discarded, and than moving another text into it
        struct made_anew {
            void* at;
            ~made_anew() {
                if (at != nullptr) { ::new (at) std::string; } // memory ran out
            }
        } fresh{&to};
        to.~basic_string();
        ::new (fresh.at) std::string{text};
        fresh.at = nullptr;
    }
}

/// Reads all values of a row with the entity's own descriptor, one after the other. Sizes are checked where they are read: bytes that every
/// such row has were counted before, so that reading them needs no check.
class value_reader {
public:
    /// `payload` must have that descriptor, and `least` bytes behind it: see `descriptor_bytes::least`.
    value_reader(std::string_view payload, std::size_t descriptor_size, std::size_t least) noexcept
        : at_(payload.data() + row_format::header_size + descriptor_size),
          spare_(payload.size() - row_format::header_size - descriptor_size - least) {}

    /// Reads the next value into a member of the C++ type of its EDM type.
    template <class T>
    void take(T& to) {
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

    /// Skips `size` bytes of values that were not read.
    void pass(std::size_t size) noexcept { at_ += size; }
    /// Does the same, and skips a text or binary after them.
    void pass_with_text(std::size_t size) noexcept {
        at_ += size;
        static_cast<void>(take_bytes());
    }
    /// Reads whether the next value, which is nullable, is present; then it takes this many bytes, without those of a text.
    [[nodiscard]] bool take_presence(std::size_t size) noexcept { return *at_++ != 0 && has(size); }

    /// Returns success, or the reason why the row does not fit.
    [[nodiscard]] result<void> finish(std::string_view const* names, std::string_view entity) const {
        bool const good = !damaged_ && spare_ == 0 && offender_ == none;
        return good ? result<void>{} : problem(names, entity);
    }

private:
    static constexpr std::size_t none = ~std::size_t{0};

    ENTITABLE_LAZY [[nodiscard]] failure problem(std::string_view const* names, std::string_view entity) const;

    /// Claims bytes that not every row has. In a damaged row the values after them are wrong, but within it.
    [[nodiscard]] bool has(std::size_t size) noexcept {
        if (spare_ < size) {
            damaged_ = true;
            return false;
        }
        spare_ -= size;
        return true;
    }
    [[nodiscard]] std::string_view take_bytes() noexcept {
        std::size_t const size = row_format::load<std::uint32_t>(at_);
        at_ += 4;
        if (!has(size)) { return {}; }
        at_ += size;
        return {at_ - size, size};
    }

    char const* at_;
    std::size_t spare_; ///< bytes from here on that are not yet part of a value
    std::size_t offender_{none};
    edm_type offending_{}; // type of the value at fault
    bool damaged_{false};
};

/// Whether a payload has this descriptor, and `least` bytes behind it.
[[nodiscard]] inline bool has_descriptor(
    std::string_view payload, std::string_view descriptor, std::size_t least = 0) noexcept {
    return payload.size() >= row_format::header_size + descriptor.size() + least &&
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
