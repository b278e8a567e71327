// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "support/catch.hpp"
#include <entitable/entitable.hpp>
#include <entitable/expiry.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

using namespace entitable;

namespace {

struct sample {
    std::string room;
    date_time when;
    double celsius{};
};
ENTITABLE(sample, partition_key(room), row_key(when), properties(celsius))

/// A clock that shows a given time.
struct set_clock final : entitable::clock {
    date_time shown;
    date_time now() noexcept override { return shown; }
    steady_time steady() noexcept override { return {}; }
    void wait_until(steady_time) noexcept override {}
};

date_time on(int year, unsigned month, unsigned day, int hour = 0) {
    return {date_time::from_date(year, month, day).ticks + hour * 3600 * date_time::ticks_per_second};
}

struct archive {
    set_clock time;
    memory_backend store;

    [[nodiscard]] period_tables<sample> by(period length, std::chrono::nanoseconds keep = {}) {
        return {store, "readings", {length, keep, &time}};
    }
};

} // namespace

TEST_CASE("a period has a time span, and a table whose name ends in its digits") {
    archive all;
    all.time.shown = on(2024, 2, 29, 15);
    struct expectation {
        period length;
        char const* name;
        date_time begin;
        date_time end;
    };
    for (expectation const& each : {
             expectation{period::hour, "readings2024022915", on(2024, 2, 29, 15), on(2024, 2, 29, 16)},
             {period::day, "readings20240229", on(2024, 2, 29), on(2024, 3, 1)},
             {period::month, "readings202402", on(2024, 2, 1), on(2024, 3, 1)},
             {period::year, "readings2024", on(2024, 1, 1), on(2025, 1, 1)},
         }) {
        auto const tables = all.by(each.length);
        CHECK(tables.at(all.time.shown).value().name() == each.name);
        CHECK(tables.span_of(all.time.shown).value().begin == each.begin);
        CHECK(tables.span_of(all.time.shown).value().end == each.end);
        // Its first and last ticks belong to it, the next one does not.
        CHECK(tables.at(each.begin).value().name() == each.name);
        CHECK(tables.at({each.end.ticks - 1}).value().name() == each.name);
        CHECK(tables.at(each.end).value().name() != each.name);
    }
    CHECK(all.by(period::month).span_of(on(2024, 12, 31)).value().end == on(2025, 1, 1));
    CHECK(all.by(period::day).at({-1}).error().code == error_code::out_of_range_input);
    CHECK(all.by(period::day).at({date_time::max_ticks + 1}).error().code == error_code::out_of_range_input);
    CHECK(all.by(period::year).span_of({date_time::max_ticks}).has_value());
}

TEST_CASE("a table is created once, and tables are found between two times, oldest first") {
    archive all;
    all.time.shown = on(2026, 3, 2);
    testing::spy<memory_backend> service{all.store};
    period_tables<sample> const readings{service, "readings", {period::day, std::chrono::hours{24 * 30}, &all.time}};
    for (unsigned const day : {2U, 1U, 2U, 2U}) {
        readings.at(on(2026, 3, day, 7))
            .value()
            .insert({"hall", on(2026, 3, day, static_cast<int>(service.seen().size())), 21})
            .value();
    }
    readings.at(on(2026, 2, 28)).value();
    CHECK(service.seen().size() == 3 + 4);                     // three tables are created
    row_table{all.store, "readings20260231"}.create().value(); // not a day
    row_table{all.store, "readings2026030"}.create().value();
    row_table{all.store, "readingsofothers"}.create().value();
    std::vector<std::string> names;
    for (auto const& each : readings.between(on(2026, 2, 1), on(2026, 3, 2, 1)).value()) {
        names.push_back(each.name());
    }
    CHECK(names == std::vector<std::string>{"readings20260228", "readings20260301", "readings20260302"});
    CHECK(readings.between(on(2026, 3, 2), on(2026, 3, 3)).value().at(0).scan_table().count().value() == 3);
    CHECK(readings.between(on(2026, 3, 1, 23), on(2026, 3, 2)).value().size() == 1); // without its end
}

TEST_CASE("an expired period is refused, dropped a minute later, and its table name is never used again") {
    archive all;
    auto const readings = all.by(period::day, std::chrono::hours{24 * 2});
    auto const drop = [&] { return readings.drop_old().value(); };
    row_table{all.store, "readings2020"}.create().value(); // a year's: not one of these
    all.time.shown = on(2026, 3, 2);
    readings.at(on(2026, 3, 1)).value();
    readings.at(on(2026, 3, 2)).value();
    CHECK(readings.at(on(2026, 2, 27)).error().code == error_code::out_of_range_input);
    CHECK(drop().empty());
    all.time.shown = {on(2026, 3, 4).ticks - 1};
    CHECK(readings.at(on(2026, 3, 1)).has_value());
    all.time.shown = on(2026, 3, 4);
    CHECK(readings.at(on(2026, 3, 1)).error().message.find("readings20260301") != std::string::npos);
    CHECK(drop().empty()); // a writer whose clock is slow may be about to create it
    all.time.shown = {on(2026, 3, 4).ticks + 60 * date_time::ticks_per_second};
    CHECK(drop() == std::vector<std::string>{"readings20260301"});
    CHECK(drop().empty());
    CHECK(readings.at(on(2026, 3, 1)).error().code == error_code::out_of_range_input);
    CHECK(readings.at(on(2026, 3, 2)).value().insert({"hall", on(2026, 3, 2), 20}).has_value());
    CHECK(readings.between(on(2020, 1, 1), on(2030, 1, 1)).value().size() == 1);
}
