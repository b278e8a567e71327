// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `date_time`: a point in time as the service stores it: UTC, in ticks of 100 ns, years 1601 to 9999.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/chrono.hpp>
#include <entitable/core/config.hpp>

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the sum, or the closest representable number on overflow.
[[nodiscard]] constexpr std::int64_t saturated_sum(std::int64_t left, std::int64_t right) noexcept {
    using limits = std::numeric_limits<std::int64_t>;
    if (right > 0 && left > (limits::max)() - right) { return (limits::max)(); }
    if (right < 0 && left < (limits::min)() - right) { return (limits::min)(); }
    return left + right;
}
/// Returns the difference, or the closest representable number on overflow.
[[nodiscard]] constexpr std::int64_t saturated_difference(std::int64_t left, std::int64_t right) noexcept {
    using limits = std::numeric_limits<std::int64_t>;
    if (right < 0 && left > (limits::max)() + right) { return (limits::max)(); }
    if (right > 0 && left < (limits::min)() + right) { return (limits::min)(); }
    return left - right;
}

/// Rounds down to a multiple of `unit`, which must be positive; returns the closest representable number on overflow.
[[nodiscard]] constexpr std::int64_t saturated_multiple(std::int64_t number, std::int64_t unit) noexcept {
    std::int64_t const rest = number % unit;
    return saturated_difference(number, rest < 0 ? rest + unit : rest);
}

/// Converts to a duration of 64 bits, rounded down or up; returns the closest duration if the value does not fit. NaN becomes the longest
/// duration.
template <class To, class Rep, class Period>
[[nodiscard]] constexpr To saturated_duration(std::chrono::duration<Rep, Period> from, bool up = false) noexcept {
    constexpr double end = 9223372036854775808.0; // 2 to the power of 63; a double represents it exactly
    double const about = std::chrono::duration<double, typename To::period>(from).count();
    if (!(about < end)) { return (To::max)(); }
    if (about < -end) { return (To::min)(); }
    return up ? std::chrono::ceil<To>(from) : std::chrono::floor<To>(from);
}

} // namespace detail

/// A UTC time with a resolution of 100 ns. `ticks` counts from 1601-01-01T00:00:00Z. Can hold out-of-range values; validation rejects them
/// before they are sent or stored.
struct date_time {
    std::int64_t ticks{}; ///< 100 ns each, since 1601-01-01T00:00:00Z

    /// Difference of two times: ticks of 100 ns. Seconds, minutes, hours and days convert to it implicitly.
    using duration = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;

    /// Ticks of 100 nanoseconds.
    static constexpr std::int64_t ticks_per_second = 10'000'000;
    static constexpr std::int64_t unix_epoch = 116'444'736'000'000'000;  ///< 1970-01-01T00:00:00Z
    static constexpr std::int64_t max_ticks = 2'650'467'743'999'999'999; ///< 9999-12-31T23:59:59.9999999Z

    /// Returns midnight UTC of a day in the proleptic Gregorian calendar. Month and day are not checked.
    [[nodiscard]] static constexpr date_time from_date(int year, unsigned month, unsigned day) noexcept {
        // Algorithm `days_from_civil`, H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".
        int const shifted = month <= 2 ? year - 1 : year;
        int const era = (shifted >= 0 ? shifted : shifted - 399) / 400;
        auto const year_of_era = static_cast<unsigned>(shifted - era * 400);
        unsigned const day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
        unsigned const day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        std::int64_t const days = std::int64_t{era} * 146097 + day_of_era - 719468;
        return {unix_epoch + days * 86400 * ticks_per_second};
    }

    /// Returns the time of day of the computer's clock.
    ENTITABLE_LAZY [[nodiscard]] static date_time now() noexcept;
    /// Converts a time of the system clock in any unit, rounded down to 100 ns. A time that does not fit 64 bits of ticks becomes an
    /// invalid time.
    template <class Unit>
    [[nodiscard]] static constexpr date_time from_system(
        std::chrono::time_point<std::chrono::system_clock, Unit> time) noexcept {
        return date_time{unix_epoch} + time.time_since_epoch();
    }
    /// Converts to a time of the system clock, rounded down to its resolution. Returns nullopt if the clock cannot represent the time:
    /// 64 bits of nanoseconds cover the years 1678 to 2261.
    ENTITABLE_LAZY [[nodiscard]] std::optional<std::chrono::system_clock::time_point> to_system() const noexcept;

    /// Parses "2020-06-01T12:00:00.1234567Z" with up to 7 digits of fraction. Returns nullopt for any other text, for a date that does not
    /// exist and for a year before 1601. Text without the Z is taken as UTC.
    ENTITABLE_LAZY [[nodiscard]] static std::optional<date_time> parse(std::string_view text) noexcept;
    /// Parses "2020-06-01", midnight UTC of the day. Returns nullopt like `parse`.
    ENTITABLE_LAZY [[nodiscard]] static std::optional<date_time> parse_date(std::string_view text) noexcept;

    /// Formats as "2020-06-01T12:00:00.1234567Z": always 7 digits, or as few as needed with `trim`.
    ENTITABLE_LAZY [[nodiscard]] std::string to_string(bool trim = false) const;
    /// Appends the same text.
    ENTITABLE_LAZY void append_to(std::string& out, bool trim = false) const;

    /// Whether the service can store this time: years 1601 to 9999.
    [[nodiscard]] constexpr bool is_valid() const noexcept { return ticks >= 0 && ticks <= max_ticks; }

    /// Returns midnight UTC of the day that contains this time.
    [[nodiscard]] constexpr date_time day() const noexcept {
        return {detail::saturated_multiple(ticks, 86400 * ticks_per_second)};
    }
    /// Rounds down to a multiple of `step` since 1601, a Monday: an hour, a day, a week. A step of less than 100 ns changes nothing. A
    /// result too early for 64 bits of ticks becomes the earliest representable time.
    template <class Rep, class Period>
    [[nodiscard]] constexpr date_time floor(std::chrono::duration<Rep, Period> step) const noexcept {
        std::int64_t const unit = detail::saturated_duration<duration>(step).count();
        return {unit <= 1 ? ticks : detail::saturated_multiple(ticks, unit)};
    }

    // A result that overflows 64 bits becomes the closest number of ticks, which is not a valid time.
    /// Adds a duration, rounded down to 100 ns.
    template <class Rep, class Period>
    [[nodiscard]] friend constexpr date_time operator+(
        date_time time, std::chrono::duration<Rep, Period> length) noexcept {
        return {detail::saturated_sum(time.ticks, detail::saturated_duration<duration>(length).count())};
    }
    template <class Rep, class Period>
    [[nodiscard]] friend constexpr date_time operator+(
        std::chrono::duration<Rep, Period> length, date_time time) noexcept {
        return time + length;
    }
    /// Subtracts a duration; the result is rounded down to 100 ns.
    template <class Rep, class Period>
    [[nodiscard]] friend constexpr date_time operator-(
        date_time time, std::chrono::duration<Rep, Period> length) noexcept {
        return {detail::saturated_difference(time.ticks, detail::saturated_duration<duration>(length, true).count())};
    }
    /// Returns the time from `right` to `left`, negative if `right` is later.
    [[nodiscard]] friend constexpr duration operator-(date_time left, date_time right) noexcept {
        return duration{detail::saturated_difference(left.ticks, right.ticks)};
    }
    /// Adds a duration like `+`.
    template <class Rep, class Period>
    constexpr date_time& operator+=(std::chrono::duration<Rep, Period> length) noexcept {
        return *this = *this + length;
    }
    /// Subtracts a duration like `-`.
    template <class Rep, class Period>
    constexpr date_time& operator-=(std::chrono::duration<Rep, Period> length) noexcept {
        return *this = *this - length;
    }

    friend constexpr auto operator<=>(date_time, date_time) = default;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/date_time.ipp>
#endif

#endif
