// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/advice.hpp>
#include <entitable/core/random.hpp>

#include <support/catch.hpp>

#include <cmath>

using namespace entitable;

namespace heat_map_test {

std::string key(int number) { return "key " + std::to_string(10'000 + number); }
std::vector<std::string> keys() {
    std::vector<std::string> all;
    for (int number = 0; number < 1'000; ++number) { all.push_back(key(number)); }
    return all;
}

} // namespace heat_map_test

using namespace heat_map_test;

TEST_CASE("a heat map finds the planted pattern and no other pattern") {
    random_source random{3};
    heat_map spread{keys()}, append{keys()}, prepend{keys()}, hot{keys()}, burst{keys()};
    for (int event = 0; event < 20'000; ++event) {
        int const any = static_cast<int>(random.unit() * 1'000);
        int const noise = static_cast<int>(random.unit() * 40);
        spread.add(key(any), event);
        append.add(key(std::min(999, event / 20 + noise)), event);
        prepend.add(key(std::max(0, 999 - event / 20 - noise)), event);
        hot.add(key(random.unit() < 0.6 ? 500 : any), event);
        burst.add(key(any), event % 10 < 6 ? 8'000 + event / 20 : event);
    }
    CHECK(spread.pattern() == heat_pattern::spread);
    CHECK(append.pattern() == heat_pattern::append);
    CHECK(prepend.pattern() == heat_pattern::prepend);
    CHECK(hot.pattern() == heat_pattern::hot_key);
    CHECK(burst.pattern() == heat_pattern::burst);
    CHECK(append.growth() > 0.98);
    CHECK(prepend.growth() < -0.98);
    CHECK(std::abs(spread.growth()) < 0.05);
    CHECK(heat_map{keys()}.pattern() == heat_pattern::nothing);
}

TEST_CASE("every event is counted in the cell for its key and time, over any length of time") {
    heat_map map{{"b", "d", "da", "key that is long 1", "key that is long 2"}};
    for (std::int64_t time = 0; time < 100'000; ++time) { map.add("d", 1'000 + time); }
    CHECK(map.total() == 100'000);
    double all = 0;
    for (std::size_t column = 0; column < heat_map::columns; ++column) {
        all += map.at(1, column);
        if (column + 1 < map.used_columns()) { CHECK(map.at(1, column) == static_cast<double>(map.width())); }
    }
    CHECK(all == 100'000);
    CHECK(map.begin() == 1'000);
    CHECK(map.last() == 100'999);
    CHECK(map.used_columns() > heat_map::columns / 2);
    for (auto const& [text, row] : std::vector<std::pair<std::string, std::size_t>>{{"", 0}, {"a", 0}, {"b", 0},
             {"cc", 0}, {"d", 1}, {"d0", 1}, {"da", 2}, {"db", 2}, {"key that is long", 2}, {"key that is long 1", 3},
             {"key that is long 1x", 3}, {"key that is long 2", 4}, {"z", 4}}) {
        double const before = map.at(row, 0);
        map.add(text, 0); // before the first event: in the first column
        INFO(text);
        CHECK(map.at(row, 0) == before + 1);
    }
}

TEST_CASE("a sample can be shown as a heat map of its writes") {
    sample_builder builder{{.arrival_order = true}};
    for (int number = 0; number < 5'000; ++number) { builder.add(row_builder{key(number), "-"}.build()); }
    heat_map const grows = heat_map::of(std::move(builder).finish());
    CHECK(grows.total() == 5'000);
    CHECK(grows.rows() == heat_map::most_rows);
    CHECK(grows.pattern() == heat_pattern::append);
    CHECK(heat_map::of(table_sample{}).pattern() == heat_pattern::nothing);
}
