// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/date_time.hpp>
#include <entitable/core/detail/value_text.hpp>

#include <cstring>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY unsigned days_of_month(int year, unsigned month) noexcept {
    bool const leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    constexpr unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && leap ? 29 : days[month - 1];
}

} // namespace detail

ENTITABLE_LAZY_BODY std::optional<std::chrono::system_clock::time_point> date_time::to_system() const noexcept {
    using time_point = std::chrono::system_clock::time_point;
    using steps = std::chrono::system_clock::duration;
    // Compares seconds, which both can represent, before it converts: the last second of the clock is excluded.
    std::int64_t const seconds = detail::whole_seconds(ticks) - unix_epoch / ticks_per_second;
    auto const limit = std::chrono::duration_cast<std::chrono::seconds>((steps::max)()).count();
    if (seconds >= limit || seconds <= -limit) { return std::nullopt; }
    return time_point{std::chrono::floor<steps>(std::chrono::seconds{seconds}) +
        std::chrono::floor<steps>(duration{static_cast<std::int64_t>(detail::ticks_of_second(ticks))})};
}

ENTITABLE_LAZY_BODY date_time date_time::now() noexcept { return from_system(std::chrono::system_clock::now()); }

ENTITABLE_LAZY_BODY std::optional<date_time> date_time::parse(std::string_view text) noexcept {
    constexpr std::string_view form = "dddd-dd-ddTdd:dd:dd"; // followed by a fraction
    if (text.size() < form.size()) { return std::nullopt; }
    detail::digit_reader read{text.data()};
    int const year = read.four(0);
    auto const month = static_cast<unsigned>(read.two(5));
    auto const day = static_cast<unsigned>(read.two(8));
    int const hour = read.two(11);
    int const minute = read.two(14);
    int const second = read.two(17);
    bool const good =
        read.good && text[4] == '-' && text[7] == '-' && text[10] == 'T' && text[13] == ':' && text[16] == ':';
    if (!good || month < 1 || month > 12 || day < 1 || day > detail::days_of_month(year, month) || hour > 23 ||
        minute > 59 || second > 59) {
        return std::nullopt;
    }
    std::size_t at = form.size();
    std::int64_t fraction = 0;
    if (at < text.size() && text[at] == '.') {
        std::int64_t unit = ticks_per_second;
        std::size_t const begin = ++at;
        for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && unit != 0; ++at) {
            unit /= 10;
            fraction += unit * (text[at] - '0');
        }
        if (at == begin || unit == 0) { return std::nullopt; }
    }
    if (at < text.size() && (text[at] != 'Z' || at + 1 != text.size())) { return std::nullopt; }
    auto time = from_date(year, month, day);
    time.ticks += ((hour * 60 + minute) * 60 + second) * ticks_per_second + fraction;
    if (!time.is_valid()) { return std::nullopt; }
    return time;
}

ENTITABLE_LAZY_BODY std::optional<date_time> date_time::parse_date(std::string_view text) noexcept {
    if (text.size() != 10) { return std::nullopt; }
    char whole[] = "0000-00-00T00:00:00";
    std::memcpy(whole, text.data(), text.size());
    return parse(whole);
}

namespace detail {

/// Writes `digits` decimal digits.
inline void write_digits(char* to, std::uint64_t number, std::size_t digits) noexcept {
    for (; digits > 0; --digits, number /= 10) { to[digits - 1] = static_cast<char>('0' + number % 10); }
}

ENTITABLE_LAZY_BODY char* write_whole_seconds(char* to, std::int64_t seconds) noexcept {
    std::int64_t const day = (seconds >= 0 ? seconds : seconds - 86399) / 86400;
    auto const second_of_day = static_cast<std::uint64_t>(seconds - day * 86400);
    // Algorithm `civil_from_days` (the same paper); 1601-01-01 is day 584694 of its era count.
    std::int64_t const shifted = day + 584694;
    std::int64_t const era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    auto const day_of_era = static_cast<std::uint64_t>(shifted - era * 146097);
    std::uint64_t const year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    std::uint64_t const day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    std::uint64_t const shifted_month = (5 * day_of_year + 2) / 153;
    std::uint64_t const day_of_month = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    std::uint64_t const month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
    std::int64_t const year = static_cast<std::int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0);

    std::size_t const year_digits = year < 10'000 ? 4 : 5;
    write_digits(to, static_cast<std::uint64_t>(year < 0 ? 0 : year), year_digits);
    to += year_digits;
    std::memcpy(to, "-00-00T00:00:00", 15);
    write_digits(to + 1, month, 2);
    write_digits(to + 4, day_of_month, 2);
    write_digits(to + 7, second_of_day / 3600, 2);
    write_digits(to + 10, second_of_day / 60 % 60, 2);
    write_digits(to + 13, second_of_day % 60, 2);
    return to + 15;
}

ENTITABLE_LAZY_BODY char* write_fraction(char* to, std::uint64_t ticks, bool trim) noexcept {
    if (!trim || ticks != 0) {
        std::size_t digits = 7;
        while (trim && ticks % 10 == 0) {
            ticks /= 10;
            --digits;
        }
        *to++ = '.';
        write_digits(to, ticks, digits);
        to += digits;
    }
    *to = 'Z';
    return to + 1;
}

ENTITABLE_LAZY_BODY char* write_time(char* to, std::int64_t ticks, bool trim) noexcept {
    to = write_whole_seconds(to, whole_seconds(ticks));
    return write_fraction(to, ticks_of_second(ticks), trim);
}

} // namespace detail

ENTITABLE_LAZY_BODY void date_time::append_to(std::string& out, bool trim) const {
    char text[detail::longest_time];
    out.append(text, static_cast<std::size_t>(detail::write_time(text, ticks, trim) - text));
}

ENTITABLE_LAZY_BODY std::string date_time::to_string(bool trim) const {
    std::string out;
    append_to(out, trim);
    return out;
}

ENTITABLE_END_NAMESPACE
