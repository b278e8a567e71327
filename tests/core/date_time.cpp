// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/date_time.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

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

TEST_CASE("a text that is not a time in the format of the service is refused") {
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

TEST_CASE("a truncated time is accepted only if it ends at the fraction or the zone") {
    std::string const whole = "2020-06-01T12:34:56.1234567Z";
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(size);
        bool const legal = size == 19 || size > 20;
        CHECK(date_time::parse(whole.substr(0, size)).has_value() == legal);
    }
}

TEST_CASE("the first and the last representable time are read and written") {
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

TEST_CASE("a time out of range is printed readably") {
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
                    char text[48];
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

TEST_CASE("the trimmed form omits trailing zeros, and omits the fraction if it is zero") {
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

TEST_CASE("times are compared by their ticks") {
    CHECK(date_time{1} < date_time{2});
    CHECK(date_time{2} == date_time{2});
    STATIC_REQUIRE(date_time::from_date(1601, 1, 1) == date_time{});
    STATIC_REQUIRE(date_time::from_date(1970, 1, 1).ticks == date_time::unix_epoch);
}

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using std::chrono::system_clock;

constexpr std::int64_t first_tick = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t last_tick = std::numeric_limits<std::int64_t>::max();

/// Times at the limits, between them, and out of range.
std::vector<date_time> remarkable_times() {
    std::vector<date_time> times;
    for (std::int64_t const around : {std::int64_t{0}, date_time::unix_epoch, date_time::max_ticks,
             date_time::from_date(2000, 2, 29).ticks, date_time::from_date(1900, 3, 1).ticks}) {
        for (std::int64_t const away : std::initializer_list<std::int64_t>{
                 -864'000'000'001, -10'000'001, -10'000'000, -2, -1, 0, 1, 2, 9'999'999, 864'000'000'000}) {
            times.push_back({around + away});
        }
    }
    for (std::int64_t const edge : {first_tick, first_tick + 1, last_tick - 1, last_tick}) { times.push_back({edge}); }
    return times;
}

} // namespace

TEST_CASE("durations are added to a time and subtracted from it") {
    constexpr auto noon = date_time::from_date(2026, 1, 31) + 12h;
    STATIC_REQUIRE((noon + 12h) == date_time::from_date(2026, 2, 1));
    STATIC_REQUIRE(12h + (noon - 24h) == date_time::from_date(2026, 1, 31));
    STATIC_REQUIRE((noon - -1s).ticks == noon.ticks + date_time::ticks_per_second);
    STATIC_REQUIRE((noon + std::chrono::days{28}) - noon == 672h);
    STATIC_REQUIRE((noon + 0.25s).ticks == noon.ticks + 2'500'000);
    date_time moving = noon;
    moving += 90min;
    CHECK(moving.to_string(true) == "2026-01-31T13:30:00Z");
    moving -= 1us;
    CHECK(moving.to_string(true) == "2026-01-31T13:29:59.999999Z");
}

TEST_CASE("a sum with a duration that is not a multiple of 100 ns is rounded down") {
    constexpr date_time at{1000};
    STATIC_REQUIRE((at + 199ns).ticks == 1001);
    STATIC_REQUIRE((at + 200ns).ticks == 1002);
    STATIC_REQUIRE((at + -1ns).ticks == 999);
    STATIC_REQUIRE((at - 1ns).ticks == 999);
    STATIC_REQUIRE((at - 100ns).ticks == 999);
    STATIC_REQUIRE((at - 101ns).ticks == 998);
    STATIC_REQUIRE((at - -199ns).ticks == 1001);
    for (std::int64_t const length :
        {-1'000'000'001, -201, -200, -199, -100, -99, -1, 0, 1, 99, 100, 101, 1'000'000'001}) {
        CAPTURE(length);
        CHECK(at + nanoseconds{length} == at - nanoseconds{-length});
    }
}

TEST_CASE("the difference between two times is exact, even if it is negative") {
    date_time const first{0};
    date_time const last{date_time::max_ticks};
    CHECK((last - first).count() == date_time::max_ticks);
    CHECK((first - last).count() == -date_time::max_ticks);
    CHECK(first - last < 0s);
    CHECK(date_time{1} - date_time{2} == nanoseconds{-100});
    CHECK(std::chrono::duration_cast<std::chrono::hours>(date_time::from_date(1601, 1, 2) - first) == 24h);
    for (date_time const left : remarkable_times()) {
        for (date_time const right : remarkable_times()) {
            CAPTURE(left.ticks, right.ticks);
            bool const exact = left.is_valid() && right.is_valid();
            if (exact) {
                CHECK(right + (left - right) == left);
                CHECK(left - (left - right) == right);
            }
            CHECK((left - right < 0s) == (left < right));
        }
    }
}

TEST_CASE("a sum that overflows 64 bits of ticks saturates, and the result is not valid") {
    using hours = std::chrono::hours;
    auto const longest = (hours::max)();
    auto const most_negative = (hours::min)();
    STATIC_REQUIRE((date_time{} + (std::chrono::hours::max)()).ticks == last_tick);
    CHECK((date_time{} + most_negative).ticks == first_tick);
    CHECK((date_time{} - longest).ticks == -last_tick);
    CHECK((date_time{} - most_negative).ticks == last_tick);
    CHECK((date_time{date_time::max_ticks} + longest).ticks == last_tick);
    CHECK((date_time{last_tick} + 100ns).ticks == last_tick);
    CHECK((date_time{first_tick} - 100ns).ticks == first_tick);
    CHECK((date_time{first_tick} + (nanoseconds::min)()).ticks == first_tick);
    CHECK((date_time{0} + (nanoseconds::min)()).ticks == -92'233'720'368'547'759);
    CHECK((date_time{0} - (nanoseconds::min)()).ticks == 92'233'720'368'547'758);
    CHECK((date_time{last_tick} - date_time{-1}).count() == last_tick);
    CHECK((date_time{first_tick} - date_time{1}).count() == first_tick);
    CHECK((date_time{0} - date_time{first_tick}).count() == last_tick);
    CHECK_FALSE((date_time{date_time::max_ticks} + 100ns).is_valid());
    CHECK_FALSE((date_time{} - 100ns).is_valid());
    CHECK_FALSE((date_time{} + std::chrono::duration<double>{1e300}).is_valid());
    CHECK_FALSE((date_time{} + std::chrono::duration<double>{-1e300}).is_valid());
    CHECK_FALSE((date_time{} + std::chrono::duration<double>{std::numeric_limits<double>::quiet_NaN()}).is_valid());
}

TEST_CASE("the day of a time begins at the preceding midnight") {
    STATIC_REQUIRE((date_time::from_date(2026, 11, 25) + 23h + 59min).day() == date_time::from_date(2026, 11, 25));
    CHECK(date_time{date_time::max_ticks}.day() == date_time::from_date(9999, 12, 31));
    CHECK(date_time{}.day() == date_time{});
    CHECK(date_time{-1}.day() == date_time{} - 24h);
    for (date_time const time : remarkable_times()) {
        CAPTURE(time.ticks);
        auto const day = time.day();
        CHECK(day <= time);
        if (time.ticks > first_tick + 864'000'000'000) { CHECK(time - day < 24h); }
        if (time.is_valid()) { CHECK(date_time::parse_date(time.to_string().substr(0, 10)) == day); }
    }
}

TEST_CASE("a time is rounded down to a step since 1601, which began on a Monday") {
    auto const wednesday = date_time::from_date(2026, 11, 25) + 23h + 17min + 41s;
    CHECK(wednesday.floor(1min).to_string(true) == "2026-11-25T23:17:00Z");
    CHECK(wednesday.floor(15min).to_string(true) == "2026-11-25T23:15:00Z");
    CHECK(wednesday.floor(std::chrono::weeks{1}) == date_time::from_date(2026, 11, 23));
    CHECK(date_time{-1}.floor(100ns).ticks == -1);
    CHECK(date_time{-1}.floor(200ns).ticks == -2);
    CHECK(wednesday.floor(0s) == wednesday);
    CHECK(wednesday.floor(-1s) == wednesday);
    CHECK(wednesday.floor(1ns) == wednesday);
    CHECK(date_time{first_tick + 1}.floor(24h).ticks == first_tick);
    CHECK(date_time{5}.floor((std::chrono::hours::max)()).ticks == 0);
}

TEST_CASE("a time of the system clock survives a round trip") {
    for (date_time const time : remarkable_times()) {
        CAPTURE(time.ticks);
        auto const there = time.to_system();
        if (there && !time.is_valid() && !(time - 1us).is_valid()) {
            CHECK_FALSE(date_time::from_system(*there).is_valid());
        }
        if (there && time.is_valid()) {
            // A clock of microseconds rounds down.
            auto const back = date_time::from_system(*there);
            CHECK(back <= time);
            CHECK(time - back < system_clock::duration{1} + 100ns);
        }
    }
    auto const now = date_time::now();
    CHECK(date_time::from_system(now.to_system().value()) <= now);
    CHECK(date_time{date_time::unix_epoch}.to_system() == system_clock::time_point{});
    CHECK(date_time{date_time::unix_epoch - 10}.to_system() == system_clock::time_point{} - 1us);
}

TEST_CASE("a time that the system clock cannot represent is refused, never another time") {
    std::size_t refused = 0;
    for (int year = 1601; year <= 9999; ++year) {
        auto const time = date_time::from_date(year, 7, 1) + 1us;
        auto const there = time.to_system();
        refused += there ? 0U : 1U;
        if (there && date_time::from_system(*there) != time) { FAIL("another time in " << year); }
    }
    if (system_clock::period::den == 1'000'000'000) {
        CHECK_FALSE(date_time{last_tick}.to_system());
        CHECK_FALSE(date_time{first_tick}.to_system());
        CHECK(refused == (1678 - 1601) + (9999 - 2261)); // 1677-09-21 to 2262-04-11
        CHECK(date_time::from_system((system_clock::time_point::max)()).to_string().substr(0, 4) == "2262");
        CHECK(date_time::from_system((system_clock::time_point::min)()).to_string().substr(0, 4) == "1677");
        // The last second of each end is refused, the one before is exact.
        auto const end = date_time::from_system((system_clock::time_point::max)());
        CHECK_FALSE(end.to_system());
        CHECK((end - 2s).to_system().value() + 2s <= (system_clock::time_point::max)());
        auto const begin = date_time::from_system((system_clock::time_point::min)());
        CHECK_FALSE(begin.to_system());
        CHECK(date_time::from_system((begin + 2s).to_system().value()) == begin + 2s);
    } else {
        CHECK(refused == 0);
    }
}

TEST_CASE("a date without a time is midnight of that day") {
    CHECK(date_time::parse_date("2026-01-01") == date_time::from_date(2026, 1, 1));
    CHECK(date_time::parse_date("1601-01-01") == date_time{});
    CHECK(date_time::parse_date("9999-12-31") == date_time{date_time::max_ticks}.day());
    for (char const* text : {"", "2026-1-01", "2026-01-1", "2026-02-29", "1600-12-31", "2026-01-01T", "2026-01-01Z",
             "2026-01-01T00:00:00Z", "20260101", "2026/01/01", " 2026-01-0", "2026-13-01", "2026-00-01"}) {
        CAPTURE(text);
        CHECK_FALSE(date_time::parse_date(text));
    }
}

TEST_CASE("a system time in days is converted exactly over the whole range") {
    using std::chrono::sys_days;
    using std::chrono::year;
    STATIC_REQUIRE(date_time::from_system(sys_days{year{2026} / 1 / 31}) == date_time::from_date(2026, 1, 31));
    for (int each = 1601; each <= 9999; ++each) {
        if (date_time::from_system(sys_days{year{each} / 2 / 28}) != date_time::from_date(each, 2, 28)) { FAIL(each); }
    }
    CHECK_FALSE(date_time::from_system(sys_days{std::chrono::days{(std::numeric_limits<int>::max)()}}).is_valid());
}
