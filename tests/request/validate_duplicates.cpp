// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Duplicate names in an entity: random ones, and names that collide in a hash table.

#include <entitable/core/request/validate.hpp>
#include <entitable/core/row/detail/name_table.hpp>

#include <request/refusals.hpp>

#include <random>
#include <set>
#include <string>
#include <vector>

using namespace entitable;

namespace {

struct named {
    std::string name;
    bool present;
};

row row_of(std::vector<named> const& all) {
    row_builder made{"p", "r"};
    for (named const& each : all) {
        made.add(each.name, edm_type::int32, each.present ? std::optional{value_view{1}} : std::nullopt);
    }
    return made.build();
}

/// The first name with a value that equals an earlier one with a value; empty if there is none.
std::string first_twice(std::vector<named> const& all) {
    std::set<std::string> seen;
    for (named const& each : all) {
        if (each.present && !seen.insert(each.name).second) { return each.name; }
    }
    return {};
}

void check_names(std::vector<named> const& all) {
    std::string const twice = first_twice(all);
    auto const checked = validate_entity(row_of(all), profile{});
    REQUIRE(checked.has_value() == twice.empty());
    if (!checked) {
        REQUIRE(checked.error().code == error_code::duplicate_properties_specified);
        REQUIRE(checked.error().message.find("\"" + twice + "\"") != std::string::npos);
    }
    // A valid entity with absent values proves nothing about one with the same names and values.
    detail::known_good known;
    auto values = all;
    for (named& each : values) { each.present = true; }
    row const passed = row_of(all); // `known` refers to it
    if (detail::validate_entity(passed, profile{}, known)) {
        REQUIRE(detail::validate_entity(row_of(values), profile{}, known).has_value() == first_twice(values).empty());
    }
}

} // namespace

TEST_CASE("a duplicate name is found among random names") {
    std::mt19937 draw{1};
    for (int round = 0; round < 2000; ++round) {
        std::vector<named> all;
        for (std::size_t left = draw() % 60; left > 0; --left) {
            all.push_back({"n" + std::to_string(draw() % 200), draw() % 3 != 0});
        }
        CAPTURE(round);
        check_names(all);
    }
}

TEST_CASE("a duplicate name is found among names with the same hash") {
    std::mt19937 draw{2};
    std::vector<std::string> crowd;
    for (std::size_t number = 0; crowd.size() < 240; ++number) {
        std::string name = "p" + std::to_string(number);
        if (detail::name_table::hash_of(name, detail::name_table::first_seed) % 1024 == 0) {
            crowd.push_back(std::move(name));
        }
    }
    for (int round = 0; round < 50; ++round) {
        std::vector<named> all;
        for (std::string const& name : crowd) { all.push_back({name, draw() % 4 != 0}); }
        for (std::size_t times = draw() % 4; times > 0; --times) {
            all.insert(all.begin() + static_cast<std::ptrdiff_t>(draw() % all.size()),
                named{crowd[draw() % crowd.size()], draw() % 2 != 0});
        }
        CAPTURE(round);
        check_names(all);
    }
}
