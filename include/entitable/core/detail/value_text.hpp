// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Parts of the text of times, GUIDs and ETags, for code that reads and writes them in its own buffer.

#include <entitable/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
struct guid;
namespace detail {

/// Reads decimal digits at fixed offsets in a text, which must be long enough.
struct digit_reader {
    char const* text;
    bool good{true}; ///< whether all were digits

    int digit(std::size_t at) noexcept {
        int const value = text[at] - '0';
        good = good && value >= 0 && value <= 9;
        return value;
    }
    int two(std::size_t at) noexcept { return 10 * digit(at) + digit(at + 1); }
    int four(std::size_t at) noexcept { return 100 * two(at) + two(at + 2); }
};

ENTITABLE_LAZY [[nodiscard]] unsigned days_of_month(int year, unsigned month) noexcept;

/// Buffer size for the text of any time, including times out of the service's range.
inline constexpr std::size_t longest_time = 32;

inline constexpr std::int64_t ticks_per_second = 10'000'000; ///< same unit as `date_time`

/// Converts ticks of 100 ns to seconds, rounded down.
[[nodiscard]] constexpr std::int64_t whole_seconds(std::int64_t ticks) noexcept {
    return ticks / ticks_per_second - (ticks % ticks_per_second < 0 ? 1 : 0);
}
/// Returns the ticks within the second. Uses the remainder, because the product overflows 64 bits for the smallest times.
[[nodiscard]] constexpr std::uint64_t ticks_of_second(std::int64_t ticks) noexcept {
    std::int64_t const rest = ticks % ticks_per_second;
    return static_cast<std::uint64_t>(rest < 0 ? rest + ticks_per_second : rest);
}
/// The two parts of `write_time`: the text up to the second, and the fraction with the Z. Each returns the end of its text.
ENTITABLE_LAZY char* write_whole_seconds(char* to, std::int64_t seconds) noexcept;
ENTITABLE_LAZY char* write_fraction(char* to, std::uint64_t ticks, bool trim) noexcept;
/// Writes a time like `date_time::append_to`; returns the end of the text.
ENTITABLE_LAZY char* write_time(char* to, std::int64_t ticks, bool trim) noexcept;

/// Writes the 36 characters of a GUID.
ENTITABLE_LAZY void write_guid(char* to, guid const& id) noexcept;

/// The text before and after the time in an ETag made from a Timestamp.
inline constexpr std::string_view etag_prefix = "W/\"datetime'";
inline constexpr std::string_view etag_suffix = "'\"";

} // namespace detail
ENTITABLE_END_NAMESPACE
