// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// One typed property value, owned (`value`) or borrowed (`value_view`). Both are flat: a std::variant of eight types was the largest
/// single compile cost of a prototype.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/date_time.hpp>
#include <entitable/core/edm_type.hpp>
#include <entitable/core/guid.hpp>

#include <cstring>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// A borrowed value: numbers inline, text and bytes by reference. Valid as long as the bytes it refers to.
class value_view {
public:
    value_view() = default;
    /// A string, by reference.
    constexpr value_view(std::string_view text) noexcept : type_(edm_type::string), bytes_(text) {}
    /// A NUL-terminated string, by reference.
    constexpr value_view(char const* text) noexcept : value_view(std::string_view{text}) {}
    value_view(void const*) = delete; // other pointers would convert to bool
    /// A boolean.
    constexpr value_view(bool truth) noexcept : type_(edm_type::boolean), bits_(truth ? 1 : 0) {}
    /// A 32-bit integer.
    constexpr value_view(std::int32_t number) noexcept : type_(edm_type::int32), bits_(number) {}
    /// A 64-bit integer.
    constexpr value_view(std::int64_t number) noexcept : type_(edm_type::int64), bits_(number) {}
    /// A 64-bit floating-point number.
    value_view(double number) noexcept : type_(edm_type::float64) { std::memcpy(&bits_, &number, sizeof bits_); }
    /// A point in time.
    constexpr value_view(entitable::date_time time) noexcept : type_(edm_type::date_time), bits_(time.ticks) {}
    /// A GUID or a binary from its bytes (16 for a GUID).
    constexpr value_view(edm_type type, std::string_view bytes) noexcept : type_(type), bytes_(bytes) {}
    /// A fixed-size value from its stored bits.
    constexpr value_view(edm_type type, std::int64_t bits) noexcept : type_(type), bits_(bits) {}

    // Equivalent to assigning a new object, but member by member: a copy by wide moves would wait for the preceding narrow writes, about
    // ten cycles for each value of a row.
    /// Becomes a fixed-size value from its stored bits, like the constructor.
    void assign(edm_type of, std::int64_t stored) noexcept {
        type_ = of;
        bits_ = stored;
        bytes_ = {};
    }
    /// Becomes a string, a GUID or a binary from its bytes, like the constructor.
    void assign(edm_type of, std::string_view content) noexcept {
        type_ = of;
        bits_ = 0;
        bytes_ = content;
    }

    [[nodiscard]] constexpr edm_type type() const noexcept { return type_; } ///< the EDM type
    /// The stored bits of a fixed-size value; 0 for other types.
    [[nodiscard]] constexpr std::int64_t bits() const noexcept { return bits_; }
    /// The bytes of a string, a GUID or a binary; empty for other types.
    [[nodiscard]] constexpr std::string_view bytes() const noexcept { return bytes_; }

    // Each function is meaningful only for its own type.
    [[nodiscard]] constexpr std::string_view as_string() const noexcept { return bytes_; } ///< a string
    [[nodiscard]] constexpr bool as_boolean() const noexcept { return bits_ != 0; }        ///< a boolean
    /// An int32.
    [[nodiscard]] constexpr std::int32_t as_int32() const noexcept { return static_cast<std::int32_t>(bits_); }
    [[nodiscard]] constexpr std::int64_t as_int64() const noexcept { return bits_; } ///< an int64
    /// A float64.
    [[nodiscard]] double as_float64() const noexcept {
        double number{};
        std::memcpy(&number, &bits_, sizeof number);
        return number;
    }
    [[nodiscard]] constexpr entitable::date_time as_date_time() const noexcept { return {bits_}; } ///< a date_time
    /// A GUID.
    [[nodiscard]] entitable::guid as_guid() const noexcept {
        entitable::guid id;
        std::memcpy(id.bytes.data(), bytes_.data(), bytes_.size() < 16 ? bytes_.size() : 16);
        return id;
    }

    /// Compares type and bits: a NaN equals itself here. For the service's comparison see `compare_values`.
    friend constexpr bool operator==(value_view const& left, value_view const& right) noexcept {
        return left.type_ == right.type_ && left.bits_ == right.bits_ && left.bytes_ == right.bytes_;
    }

private:
    edm_type type_{edm_type::string};
    std::int64_t bits_{};
    std::string_view bytes_;
};

/// An owned value.
class value {
public:
    value() = default;
    value(value_view const& view)
        : type_(view.type()), bits_(view.bits()), bytes_(view.bytes()) {} ///< copies the bytes
    /// Becomes a copy of the other value; reuses the memory of this value.
    void assign(value_view const& view) {
        type_ = view.type();
        bits_ = view.bits();
        bytes_ = view.bytes();
    }

    [[nodiscard]] edm_type type() const noexcept { return type_; } ///< the EDM type
    /// Returns a view of this value, valid until the value changes.
    [[nodiscard]] value_view view() const noexcept {
        return has_bytes() ? value_view{type_, std::string_view{bytes_}} : value_view{type_, bits_};
    }
    operator value_view() const noexcept { return view(); } ///< same as `view()`

    /// Formats as readable text: strings in quotes, cut after 64 bytes; numbers, times and GUIDs as text; binaries as X'hex', cut after 32
    /// bytes.
    ENTITABLE_LAZY [[nodiscard]] std::string to_string() const;

    friend bool operator==(value const& left, value const& right) noexcept { return left.view() == right.view(); }

private:
    [[nodiscard]] bool has_bytes() const noexcept {
        return type_ == edm_type::string || type_ == edm_type::binary || type_ == edm_type::guid;
    }

    edm_type type_{edm_type::string};
    std::int64_t bits_{};
    std::string bytes_;
};

/// Result of a comparison.
enum class ordering : std::uint8_t {
    less,      ///< the left value comes first
    equal,     ///< neither comes first
    greater,   ///< the right value comes first
    unordered, ///< the types differ, or one is a NaN
};

/// Compares two values as the service does: numbers by value, strings by UTF-16 code unit, binaries and GUIDs by byte, false before true;
/// `unordered` if the types differ or one is a NaN.
ENTITABLE_LAZY [[nodiscard]] ordering compare_values(value_view left, value_view right) noexcept;

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/value.ipp>
#endif

#endif
