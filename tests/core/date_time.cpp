// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/date_time.hpp>

#include <support/catch.hpp>

#include <cstdio>
#include <limits>
#include <string>

using namespace entitable;

namespace {

std::int64_t ticks_of(std::string_view text) {
    auto const time = date_time::parse(text);
    REQUIRE(time);
    return time->ticks;
}

int days_in(int year, int month) {
    if (month == 2) { return year % 4 != 0 ? 28 : year % 100 != 0 ? 29 : year % 400 != 0 ? 28 : 29; }
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

} // namespace

TEST_CASE("a time is parsed with zero to seven fractional digits") {
    auto const whole = ticks_of("2020-06-01T12:00:00Z");
    CHECK(ticks_of("2020-06-01T12:00:00.1Z") == whole + 1'000'000);
    CHECK(ticks_of("2020-06-01T12:00:00.12Z") == whole + 1'200'000);
    CHECK(ticks_of("2020-06-01T12:00:00.123Z") == whole + 1'230'000);
    CHECK(ticks_of("2020-06-01T12:00:00.1234Z") == whole + 1'234'000);
    CHECK(ticks_of("2020-06-01T12:00:00.12345Z") == whole + 1'234'500);
    CHECK(ticks_of("2020-06-01T12:00:00.123456Z") == whole + 1'234'560);
    CHECK(ticks_of("2020-06-01T12:00:00.1234567Z") == whole + 1'234'567);
    CHECK(ticks_of("2020-06-01T12:00:00.0000001Z") == whole + 1);
    CHECK(ticks_of("2020-06-01T12:00:00.0Z") == whole);
}

TEST_CASE("a time without a zone is UTC") {
    CHECK(ticks_of("2020-06-01T12:00:00") == ticks_of("2020-06-01T12:00:00Z"));
    CHECK(ticks_of("2020-06-01T12:00:00.5") == ticks_of("2020-06-01T12:00:00.5Z"));
}

TEST_CASE("a text that is not a time of the service is refused") {
    auto const text = GENERATE(values<std::string>({
        "",
        "Z",
        "2020",
        "2020-06-01",
        "2020-06-01T",
        "2020-06-01T12:00",
        "2020-06-01T12:00:00.Z",
        "2020-06-01T12:00:00.12345678Z",
        "2020-06-01T12:00:00.00000000000000000000Z",
        "2020-06-01T12:00:00,5Z",
        "2020-06-01T24:00:00Z",
        "2020-06-01T23:60:00Z",
        "2020-06-01T23:59:60Z",
        "2020-02-30T00:00:00Z",
        "2021-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2020-04-31T00:00:00Z",
        "2020-00-01T00:00:00Z",
        "2020-13-01T00:00:00Z",
        "2020-01-00T00:00:00Z",
        "2020-01-32T00:00:00Z",
        "1600-12-31T23:59:59.9999999Z",
        "1600-01-01T00:00:00Z",
        "0001-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z",
        "-2020-06-01T12:00:00Z",
        "2020-06-01T12:00:00z",
        "2020-06-01t12:00:00Z",
        "2020-06-01 12:00:00Z",
        "2020-06-01T12:00:00+00:00",
        "2020-06-01T12:00:00-01:00",
        " 2020-06-01T12:00:00Z",
        "2020-06-01T12:00:00Z ",
        "2020-06-01T12:00:00ZZ",
        "2020-06-01T12:00:00.5 Z",
        "2020-6-01T12:00:00Z",
        "2020/06/01T12:00:00Z",
        "+020-06-01T12:00:00Z",
        "yesterday",
    }));
    CAPTURE(text);
    CHECK_FALSE(date_time::parse(text));
}

TEST_CASE("a truncated time is only accepted if it is cut at the fraction or the zone") {
    std::string const whole = "2020-06-01T12:34:56.1234567Z";
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(size);
        bool const legal = size == 19 || size > 20;
        CHECK(date_time::parse(whole.substr(0, size)).has_value() == legal);
    }
}

TEST_CASE("the first and the last representable time") {
    CHECK(ticks_of("1601-01-01T00:00:00Z") == 0);
    CHECK(ticks_of("1601-01-01T00:00:00.0000001Z") == 1);
    CHECK(ticks_of("1970-01-01T00:00:00Z") == date_time::unix_epoch);
    CHECK(ticks_of("9999-12-31T23:59:59.9999999Z") == date_time::max_ticks);
    CHECK(date_time{}.to_string() == "1601-01-01T00:00:00.0000000Z");
    CHECK(date_time{date_time::max_ticks}.to_string() == "9999-12-31T23:59:59.9999999Z");
    CHECK(date_time{}.is_valid());
    CHECK(date_time{date_time::max_ticks}.is_valid());
    CHECK_FALSE(date_time{-1}.is_valid());
    CHECK_FALSE(date_time{date_time::max_ticks + 1}.is_valid());
}

TEST_CASE("a time out of range has a readable text") {
    CHECK(date_time{-1}.to_string() == "1600-12-31T23:59:59.9999999Z");
    CHECK(date_time{date_time::max_ticks + 1}.to_string(true) == "10000-01-01T00:00:00Z");
    CHECK_FALSE(date_time{std::numeric_limits<std::int64_t>::min()}.to_string().empty());
    CHECK_FALSE(date_time{std::numeric_limits<std::int64_t>::max()}.to_string().empty());
}

TEST_CASE("days follow the calendar over the whole range") {
    std::int64_t day_number = 0;
    std::size_t wrong = 0;
    std::size_t leap_days = 0;
    for (int year = 1601; year <= 9999; ++year) {
        for (int month = 1; month <= 12; ++month) {
            for (int day = 1; day <= days_in(year, month); ++day, ++day_number) {
                bool const edge = day == 1 || day >= 28;
                leap_days += month == 2 && day == 29 ? 1U : 0U;
                if (!edge && day_number % 37 != 0) { continue; }
                auto const time = date_time::from_date(year, static_cast<unsigned>(month), static_cast<unsigned>(day));
                if (time.ticks != day_number * 86400 * date_time::ticks_per_second) { ++wrong; }
                if (year % 7 == 0 || (month == 2 && day == 29)) {
                    char text[32];
                    std::snprintf(text, sizeof text, "%04d-%02d-%02dT00:00:00Z", year, month, day);
                    wrong += time.to_string(true) != text || date_time::parse(text) != time ? 1U : 0U;
                }
            }
        }
    }
    CHECK(wrong == 0);
    CHECK(leap_days == 2036);
    CHECK(day_number * 86400 * date_time::ticks_per_second - 1 == date_time::max_ticks);
}

TEST_CASE("a written time is read back exactly to the tick, anywhere in the range") {
    std::int64_t const step = date_time::max_ticks / 20'011;
    std::size_t wrong = 0;
    for (std::int64_t ticks = 0; ticks <= date_time::max_ticks - step; ticks += step) {
        date_time const time{ticks};
        wrong += date_time::parse(time.to_string()) != time || date_time::parse(time.to_string(true)) != time ? 1U : 0U;
    }
    CHECK(wrong == 0);
}

TEST_CASE("the trimmed form omits trailing zeros, and the whole fraction if it is zero") {
    auto const trimmed = [](std::string_view text) { return date_time{ticks_of(text)}.to_string(true); };
    CHECK(trimmed("2019-03-05T17:45:01.0000000Z") == "2019-03-05T17:45:01Z");
    CHECK(trimmed("2019-03-05T17:45:01.5000000Z") == "2019-03-05T17:45:01.5Z");
    CHECK(trimmed("2019-03-05T17:45:01.0500000Z") == "2019-03-05T17:45:01.05Z");
    CHECK(trimmed("2019-03-05T17:45:01.2873100Z") == "2019-03-05T17:45:01.28731Z");
    CHECK(trimmed("2019-03-05T17:45:01.0000001Z") == "2019-03-05T17:45:01.0000001Z");
    CHECK(date_time{ticks_of("2019-03-05T17:45:01.5Z")}.to_string() == "2019-03-05T17:45:01.5000000Z");
}

TEST_CASE("a time of the system clock is rounded down to 100 ns, even before 1970") {
    using std::chrono::nanoseconds;
    auto const from = [](std::int64_t since) {
        using clock = std::chrono::system_clock;
        return date_time::from_system(
            clock::time_point{std::chrono::duration_cast<clock::duration>(nanoseconds{since})});
    };
    CHECK(from(0).ticks == date_time::unix_epoch);
    CHECK(from(1'000).ticks == date_time::unix_epoch + 10);
    CHECK(from(-1'000).ticks == date_time::unix_epoch - 10);
    if (std::chrono::system_clock::period::den == 1'000'000'000) {
        CHECK(from(100).ticks == date_time::unix_epoch + 1);
        CHECK(from(-100).ticks == date_time::unix_epoch - 1);
        CHECK(from(199).ticks == date_time::unix_epoch + 1);
        CHECK(from(-1).ticks == date_time::unix_epoch - 1);
        CHECK(from(-199).ticks == date_time::unix_epoch - 2);
    }
}

TEST_CASE("times compare by their ticks") {
    CHECK(date_time{1} < date_time{2});
    CHECK(date_time{2} == date_time{2});
    STATIC_REQUIRE(date_time::from_date(1601, 1, 1) == date_time{});
    STATIC_REQUIRE(date_time::from_date(1970, 1, 1).ticks == date_time::unix_epoch);
}
