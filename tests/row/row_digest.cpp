// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Digests of the properties of rows: equal for equal properties in any order and layout, different otherwise, and safe on damaged rows.

#include <entitable/core/row/detail/payload.hpp>
#include <entitable/core/row/detail/row_digest.hpp>
#include <entitable/core/row/row.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace entitable;

namespace {

struct property {
    std::string name;
    edm_type type;
    bool nullable;
    bool present;
    value held;
};

std::string payload_of(std::vector<property> const& all) {
    std::string descriptor;
    std::string values;
    for (property const& each : all) {
        detail::append_property(
            descriptor, values, {each.name, each.type, each.present, each.held.view()}, each.nullable);
    }
    return detail::make_payload(static_cast<std::uint16_t>(all.size()), descriptor, values);
}

value value_of(edm_type type, std::uint32_t number) {
    std::string const text(number * 23, static_cast<char>('a' + number));
    switch (type) {
        case edm_type::string: return value{value_view{std::string_view{text}}};
        case edm_type::boolean: return value{value_view{number % 2 == 0}};
        case edm_type::int32: return value{value_view{static_cast<std::int32_t>(number) - 2}};
        case edm_type::int64: return value{value_view{static_cast<std::int64_t>(number) - 2}};
        case edm_type::float64: return value{value_view{static_cast<double>(number)}};
        case edm_type::date_time: return value{value_view{date_time{static_cast<std::int64_t>(number)}}};
        case edm_type::guid: {
            std::string bytes(16, '\0');
            bytes[number] = 'x';
            return value{value_view{edm_type::guid, std::string_view{bytes}}};
        }
        default: return value{value_view{edm_type::binary, std::string_view{text}}};
    }
}

} // namespace

TEST_CASE("digests of properties are equal exactly if the present properties are equal, in any order") {
    std::mt19937 random{20261127};
    auto const below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
    constexpr edm_type types[] = {edm_type::string, edm_type::boolean, edm_type::int32, edm_type::int64,
        edm_type::float64, edm_type::date_time, edm_type::guid, edm_type::binary};
    detail::quick_digests reused;
    std::map<std::uint64_t, std::set<std::string>> meanings; // what rows of a digest hold
    std::set<std::string> all_meanings;
    for (int round = 0; round < 3'000; ++round) {
        std::vector<property> row(below(5));
        char name = 'a';
        for (property& each : row) {
            edm_type const type = types[below(std::size(types))];
            bool const nullable = below(2) == 0;
            each = {std::string(1, name++), type, nullable, !nullable || below(3) != 0, value_of(type, below(5))};
        }
        std::string meaning;
        for (property const& each : row) {
            if (each.present) {
                meaning += each.name + std::to_string(static_cast<int>(each.type)) + each.held.to_string() + ",";
            }
        }
        std::string const payload = payload_of(row);
        std::uint64_t const made = reused.of({"", "", payload});
        CAPTURE(round, meaning);
        REQUIRE(reused.of({"", "", payload}) == made);
        REQUIRE(detail::quick_digests{}.of({"", "", payload}) == made);
        std::shuffle(row.begin(), row.end(), random);
        for (property& each : row) { each.nullable = each.nullable || below(2) == 0; }
        std::string other = payload_of(row);
        set_timestamp(other, date_time{round});
        REQUIRE(reused.of({"partition", "row", other}) == made);
        meanings[made].insert(meaning);
        all_meanings.insert(meaning);
    }
    CHECK(meanings.size() == all_meanings.size());
    for (auto const& [digest, held] : meanings) { CHECK(held.size() == 1); }
    CHECK(all_meanings.size() > 1'000);
}

TEST_CASE("the digest of a damaged row reads nothing outside of the row") {
    std::mt19937 random{20261127};
    std::string const whole = payload_of({{"a", edm_type::string, true, true, value_of(edm_type::string, 3)},
        {"b", edm_type::guid, false, true, value_of(edm_type::guid, 3)},
        {"c", edm_type::boolean, false, true, value_of(edm_type::boolean, 0)},
        {"d", edm_type::binary, false, true, value_of(edm_type::binary, 4)}});
    detail::quick_digests reused;
    std::uint64_t const good = reused.of({"", "", whole});
    for (std::size_t size = 0; size < whole.size(); ++size) {
        std::vector<char> const cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)); // exact memory
        CHECK(reused.of({"", "", {cut.data(), cut.size()}}) != good);
    }
    for (int round = 0; round < 2'000; ++round) {
        std::vector<char> damaged(whole.begin(), whole.end());
        for (int byte = 0; byte < 2; ++byte) { damaged[random() % damaged.size()] = static_cast<char>(random() % 256); }
        static_cast<void>(reused.of({"", "", {damaged.data(), damaged.size()}}));
    }
    CHECK(reused.of({"", "", whole}) == good);
}
