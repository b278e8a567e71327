// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Layouts of rows that a store has validated: what was refused once is refused again, and known names excuse no value.

#include "support/catch.hpp"
#include <entitable/core/request/detail/known_layouts.hpp>
#include <entitable/core/request/validate.hpp>

#include <string>
#include <thread>
#include <vector>

using namespace entitable;
using detail::known_good;
using detail::known_layouts;

namespace {

result<void> validated(known_layouts& layouts, row_view entity, profile const& limits = {}) {
    known_good known{{}, {}, &layouts};
    return detail::validate_entity(entity, limits, known);
}

row row_of(std::string const& name, value_view value) {
    row_builder made{"p", "r"};
    made.add(name, value);
    return made.build();
}

} // namespace

TEST_CASE("known layouts: values are validated each time, and so are keys") {
    known_layouts layouts;
    CHECK(validated(layouts, row_of("text", value_view{std::string_view{"good"}})));
    CHECK(validated(layouts, row_of("text", value_view{std::string_view{"good too"}})));
    CHECK(validated(layouts, row_of("text", value_view{std::string_view{"\xFF"}})).error().code ==
        error_code::invalid_input);
    std::string const too_long(32 * 1024 + 1, 'x');
    CHECK(validated(layouts, row_of("text", value_view{std::string_view{too_long}})).error().code ==
        error_code::property_value_too_large);
    row_builder bad_key{"p/", "r"};
    bad_key.add("text", value_view{std::string_view{"good"}});
    CHECK(validated(layouts, bad_key.build()).error().code == error_code::out_of_range_input);
    row_builder damaged{"p", "r"};
    damaged.add("text", value_view{std::string_view{"good"}});
    row const whole = damaged.build();
    for (std::size_t size = 0; size < whole.payload().size(); ++size) {
        CHECK_FALSE(validated(layouts, {"p", "r", whole.payload().substr(0, size)}));
    }
}

TEST_CASE("known layouts: a name that is refused is refused each time") {
    known_layouts layouts;
    for (int round = 0; round < 3; ++round) {
        CHECK(validated(layouts, row_of("not a name", value_view{std::int32_t{1}})).error().code ==
            error_code::property_name_invalid);
        CHECK(validated(layouts, row_of("RowKey", value_view{std::int32_t{1}})).error().code ==
            error_code::property_name_invalid);
        row_builder twice{"p", "r"};
        twice.add("same", value_view{std::int32_t{1}});
        twice.add("same", value_view{std::int32_t{2}});
        CHECK(validated(layouts, twice.build()).error().code == error_code::duplicate_properties_specified);
        row_builder absent{"p", "r"};
        absent.add("not a name", edm_type::int32, std::nullopt);
        CHECK(validated(layouts, absent.build()));
        row_builder present{"p", "r"};
        present.add("not a name", edm_type::int32, value_view{std::int32_t{1}});
        CHECK_FALSE(validated(layouts, present.build())); // has the descriptor of the row before
    }
}

TEST_CASE("known layouts: a few are remembered, and all are validated") {
    known_layouts layouts;
    for (int round = 0; round < 2; ++round) {
        for (int number = 0; number < 100; ++number) {
            row const each = row_of("name" + std::to_string(number), value_view{std::int32_t{number}});
            CHECK(validated(layouts, each));
        }
    }
    std::size_t known = 0;
    for (int number = 0; number < 100; ++number) {
        row const each = row_of("name" + std::to_string(number), value_view{std::int32_t{number}});
        std::size_t const size = row_format::load<std::uint32_t>(each.payload().data() + 4);
        known += layouts.has(each.payload().substr(row_format::header_size, size)) ? 1 : 0;
    }
    CHECK(known == 16);
}

TEST_CASE("known layouts: threads add and search at the same time") {
    known_layouts layouts;
    std::vector<std::thread> threads;
    std::vector<int> good(4);
    for (std::size_t thread = 0; thread < good.size(); ++thread) {
        threads.emplace_back([&, thread] {
            for (int number = 0; number < 400; ++number) {
                row const each = row_of("name" + std::to_string(number % 20), value_view{std::int32_t{number}});
                good[thread] += validated(layouts, each) ? 1 : 0;
            }
        });
    }
    for (std::thread& each : threads) { each.join(); }
    for (int const each : good) { CHECK(each == 400); }
}
