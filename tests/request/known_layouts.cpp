// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Layouts of rows that a store has validated: what was refused once is refused again, and known names excuse no value.

#include "support/catch.hpp"
#include <entitable/core/request/detail/known_layouts.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/row/detail/payload.hpp>

#include <random>
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
        known += layouts.find(each.payload().substr(row_format::header_size, size)) != nullptr ? 1 : 0;
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

TEST_CASE("known layouts: random rows of a known layout are refused exactly if they are refused without it") {
    std::mt19937 random{20261127};
    auto const below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
    constexpr edm_type types[] = {edm_type::string, edm_type::boolean, edm_type::int32, edm_type::int64,
        edm_type::float64, edm_type::date_time, edm_type::guid, edm_type::binary};
    profile limits;
    limits.max_string_units = 20;
    limits.max_binary_size = 20;
    limits.max_properties = 4;
    limits.max_entity_size = 400;
    constexpr std::string_view texts[] = {
        "", "seven", "a text of some length", "\xC3\xA4\xC3\xB6", "\xC3", "bad \xFF end"};
    std::size_t good = 0;
    std::size_t refused = 0;
    for (int layout = 0; layout < 400; ++layout) {
        known_layouts layouts;
        std::vector<std::pair<edm_type, bool>> columns(1 + below(5));
        for (auto& each : columns) { each = {types[below(std::size(types))], below(3) == 0}; }
        for (int number = 0; number < 40; ++number) {
            std::string descriptor;
            std::string values;
            char name = 'a';
            for (auto const& [type, nullable] : columns) {
                std::string_view const text = texts[number == 0 ? 1 : below(std::size(texts))];
                std::int64_t const bits = number == 0 || below(4) != 0 ? 1 : -1;
                value_view const held = type == edm_type::string || type == edm_type::binary ? value_view{type, text}
                    : type == edm_type::guid  ? value_view{type, std::string_view{"0123456789abcdef"}}
                    : type == edm_type::int32 ? value_view{static_cast<std::int32_t>(bits)}
                                              : value_view{type, bits};
                detail::append_property(
                    descriptor, values, {std::string(1, name++), type, !nullable || below(2) == 0, held}, nullable);
            }
            std::string payload = detail::make_payload(static_cast<std::uint16_t>(columns.size()), descriptor, values);
            if (number > 0 && below(4) == 0) { payload.resize(payload.size() - below(8)); }
            if (number > 0 && below(8) == 0) { payload[below(8)] = static_cast<char>(below(4)); }
            std::vector<char> const exact(payload.begin(), payload.end()); // no memory behind the row
            row_view const entity{"p", std::string_view{"a row key"}.substr(0, below(9)), {exact.data(), exact.size()}};
            result<void> const wanted = validate_entity(entity, limits);
            result<void> const made = validated(layouts, entity, limits);
            REQUIRE(made.has_value() == wanted.has_value());
            if (!wanted) { CHECK(made.error().code == wanted.error().code); }
            ++(wanted ? good : refused);
        }
    }
    CHECK(good > 4'000);
    CHECK(refused > 2'000);
}
