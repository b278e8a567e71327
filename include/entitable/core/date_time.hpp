// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `date_time`: a point in time as the service stores it: UTC, in ticks of 100 ns, years 1601 to 9999.

#include <entitable/core/chrono.hpp>
#include <entitable/core/config.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// A UTC time with a resolution of 100 ns. `ticks` counts from 1601-01-01T00:00:00Z. Can hold out-of-range values; validation rejects them
/// before they are sent or stored.
struct date_time {
    std::int64_t ticks{}; ///< 100 ns each, since 1601-01-01T00:00:00Z

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
    /// Converts a time of the system clock, rounded down to 100 ns.
    ENTITABLE_LAZY [[nodiscard]] static date_time from_system(std::chrono::system_clock::time_point time) noexcept;

    /// Parses "2020-06-01T12:00:00.1234567Z" with up to 7 digits of fraction. Returns nullopt for any other text, for a date that does not
    /// exist and for a year before 1601. Text without the Z is taken as UTC.
    ENTITABLE_LAZY [[nodiscard]] static std::optional<date_time> parse(std::string_view text) noexcept;

    /// Formats as "2020-06-01T12:00:00.1234567Z": always 7 digits, or as few as needed with `trim`.
    ENTITABLE_LAZY [[nodiscard]] std::string to_string(bool trim = false) const;
    /// Appends the same text.
    ENTITABLE_LAZY void append_to(std::string& out, bool trim = false) const;

    /// Whether the service can store this time: years 1601 to 9999.
    [[nodiscard]] constexpr bool is_valid() const noexcept { return ticks >= 0 && ticks <= max_ticks; }

    friend constexpr auto operator<=>(date_time, date_time) = default;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/date_time.ipp>
#endif
