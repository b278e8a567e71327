// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/date_time.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads decimal digits from the front of a text, one field after the other.
struct digit_reader {
    std::string_view rest;
    bool good{true};

    int number(std::size_t digits) noexcept {
        int value = 0;
        if (rest.size() < digits) {
            good = false;
            return 0;
        }
        for (std::size_t index = 0; index < digits; ++index) {
            if (rest[index] < '0' || rest[index] > '9') {
                good = false;
                return 0;
            }
            value = value * 10 + (rest[index] - '0');
        }
        rest.remove_prefix(digits);
        return value;
    }
    void expect(char character) noexcept {
        if (rest.empty() || rest.front() != character) {
            good = false;
            return;
        }
        rest.remove_prefix(1);
    }
};

ENTITABLE_LAZY unsigned days_of_month(int year, unsigned month) noexcept {
    bool const leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    constexpr unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && leap ? 29 : days[month - 1];
}

} // namespace detail

ENTITABLE_LAZY_BODY std::optional<date_time> date_time::parse(std::string_view text) noexcept {
    detail::digit_reader reader{text};
    int const year = reader.number(4);
    reader.expect('-');
    auto const month = static_cast<unsigned>(reader.number(2));
    reader.expect('-');
    auto const day = static_cast<unsigned>(reader.number(2));
    reader.expect('T');
    int const hour = reader.number(2);
    reader.expect(':');
    int const minute = reader.number(2);
    reader.expect(':');
    int const second = reader.number(2);
    if (!reader.good || month < 1 || month > 12 || day < 1 || day > detail::days_of_month(year, month) || hour > 23 ||
        minute > 59 || second > 59) {
        return std::nullopt;
    }
    std::int64_t fraction = 0;
    if (!reader.rest.empty() && reader.rest.front() == '.') {
        reader.rest.remove_prefix(1);
        std::int64_t unit = ticks_per_second;
        std::size_t digits = 0;
        while (digits < reader.rest.size() && reader.rest[digits] >= '0' && reader.rest[digits] <= '9') {
            unit /= 10;
            fraction += unit * (reader.rest[digits] - '0');
            ++digits;
        }
        if (digits == 0 || digits > 7) {
            return std::nullopt;
        }
        reader.rest.remove_prefix(digits);
    }
    if (!reader.rest.empty() && reader.rest != "Z") {
        return std::nullopt;
    }
    auto time = from_date(year, month, day);
    time.ticks += ((hour * 60 + minute) * 60 + second) * ticks_per_second + fraction;
    if (!time.is_valid()) {
        return std::nullopt;
    }
    return time;
}

ENTITABLE_LAZY_BODY void date_time::append_to(std::string& out, bool trim) const {
    std::int64_t const remainder = ticks % ticks_per_second;
    std::int64_t const seconds = ticks / ticks_per_second - (remainder < 0 ? 1 : 0);
    auto fraction = static_cast<std::uint64_t>(remainder < 0 ? remainder + ticks_per_second : remainder);
    std::int64_t const day = (seconds >= 0 ? seconds : seconds - 86399) / 86400;
    auto const second_of_day = static_cast<std::uint64_t>(seconds - day * 86400);
    // Civil from days (the same paper), with 1601-01-01 being day 584694 of its era count.
    std::int64_t const shifted = day + 584694;
    std::int64_t const era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    auto const day_of_era = static_cast<std::uint64_t>(shifted - era * 146097);
    std::uint64_t const year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    std::uint64_t const day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    std::uint64_t const shifted_month = (5 * day_of_year + 2) / 153;
    std::uint64_t const day_of_month = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    std::uint64_t const month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
    std::int64_t const year = static_cast<std::int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0);

    // All behind the year goes to a place of fixed size, which is appended at once.
    text::append_decimal(out, static_cast<std::uint64_t>(year < 0 ? 0 : year), 4);
    char rest[24] = "-00-00T00:00:00";
    auto const put = [&rest](std::size_t at, std::uint64_t number, std::size_t digits) {
        for (; digits > 0; --digits, number /= 10) {
            rest[at + digits - 1] = static_cast<char>('0' + number % 10);
        }
    };
    put(1, month, 2);
    put(4, day_of_month, 2);
    put(7, second_of_day / 3600, 2);
    put(10, second_of_day / 60 % 60, 2);
    put(13, second_of_day % 60, 2);
    std::size_t size = 15;
    if (!trim || fraction != 0) {
        std::size_t digits = 7;
        while (trim && fraction % 10 == 0) {
            fraction /= 10;
            --digits;
        }
        rest[size] = '.';
        put(size + 1, fraction, digits);
        size += 1 + digits;
    }
    rest[size] = 'Z';
    out.append(rest, size + 1);
}

ENTITABLE_LAZY_BODY std::string date_time::to_string(bool trim) const {
    std::string out;
    append_to(out, trim);
    return out;
}

ENTITABLE_END_NAMESPACE
