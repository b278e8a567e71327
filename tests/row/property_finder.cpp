// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Random rows, whose names are missing, in another order, empty, duplicate or equal in their hash: finding many properties of a row
// gives the same results as searching the whole row for each. For a duplicate name either is found.

#include <entitable/core/row/compare.hpp>
#include <entitable/core/row/detail/payload.hpp>
#include <entitable/core/row/detail/property_finder.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace entitable;
using detail::name_table;
using detail::property_finder;

namespace {

using names = std::vector<std::string>;

/// Hard to distinguish: empty, prefixes of each other, with a NUL, of eight bytes and more.
names const alphabet{"", "a", "A", "aa", "ab", "b", std::string("a\0", 2), "abcdefgh", "abcdefghi", "abcdefgha", "_"};

row row_of(names const& all, std::mt19937& draw) {
    row_builder made{"p", "r"};
    for (std::string const& name : all) {
        switch (draw() % 4) {
            case 0: made.add(name, edm_type::int32, std::nullopt); break;
            case 1: made.add(name, edm_type::string, value_view{"text"}); break;
            default: made.add(name, static_cast<std::int32_t>(draw() % 3)); break;
        }
    }
    return made.build();
}

/// Mostly different ones.
names drawn_names(std::mt19937& draw) {
    names all = alphabet;
    std::shuffle(all.begin(), all.end(), draw);
    all.resize(draw() % all.size());
    if (draw() % 4 == 0) { all.insert(all.end(), alphabet.begin(), alphabet.begin() + 2); }
    return all;
}

/// The same names in order, or reversed, shuffled, some removed, some added.
names related(names all, std::mt19937& draw) {
    switch (draw() % 4) {
        case 0: std::reverse(all.begin(), all.end()); break;
        case 1: std::shuffle(all.begin(), all.end(), draw); break;
        default: break;
    }
    for (std::size_t times = draw() % 3; times > 0 && !all.empty(); --times) {
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(draw() % all.size()));
    }
    for (std::size_t times = draw() % 3; times > 0; --times) { // perhaps for the second time
        all.insert(
            all.begin() + static_cast<std::ptrdiff_t>(draw() % (all.size() + 1)), alphabet[draw() % alphabet.size()]);
    }
    return all;
}

/// Names whose search starts at one place of the table, however large it is.
names crowd(std::size_t count) {
    names all;
    for (std::size_t number = 0; all.size() < count; ++number) {
        std::string name = "p" + std::to_string(number);
        if (name_table::hash_of(name, name_table::first_seed) % 1024 == 0) { all.push_back(std::move(name)); }
    }
    return all;
}

/// The properties from first to last.
std::vector<property_view> properties_of(row_view in) {
    std::vector<property_view> all;
    property_cursor cursor{in.payload};
    for (property_view each; cursor.next(each);) { all.push_back(each); }
    return all;
}

std::string slowly_merged(row_view base, row_view change) {
    std::string descriptor;
    std::string values;
    std::uint16_t count = 0;
    for (property_view each : properties_of(base)) {
        if (each.present) {
            if (auto const replacement = change.find(each.name)) {
                each.value = *replacement;
                each.type = replacement->type();
            }
            detail::append_property(descriptor, values, each, false);
            ++count;
        }
    }
    for (property_view const& each : properties_of(change)) {
        if (each.present && !base.find(each.name)) {
            detail::append_property(descriptor, values, each, false);
            ++count;
        }
    }
    return detail::make_payload(count, descriptor, values);
}

bool slowly_holds(row_view whole, row_view part) {
    auto const all = properties_of(part);
    return std::all_of(all.begin(), all.end(), [&](property_view const& each) {
        auto const found = whole.find(each.name);
        return !each.present || (found && *found == each.value);
    });
}

void check_equal(std::optional<value_view> const& one, std::optional<value_view> const& other) {
    REQUIRE(one.has_value() == other.has_value());
    REQUIRE((!one || *one == *other));
}

bool are_different(row_view in) {
    std::set<std::string_view> seen;
    auto const all = properties_of(in);
    return std::all_of(
        all.begin(), all.end(), [&](property_view const& each) { return seen.insert(each.name).second; });
}

/// A result is a property of that name, and there is a result if the row has one.
void check_found(row_view in, std::string_view name, property_view const* found) {
    auto const all = properties_of(in);
    bool const there =
        std::any_of(all.begin(), all.end(), [&](property_view const& each) { return each.name == name; });
    REQUIRE(there == (found != nullptr));
    REQUIRE((!there || std::any_of(all.begin(), all.end(), [&](property_view const& each) {
        return each.name.data() == found->name.data() && each.name == name && each.present == found->present &&
            (!each.present || each.value == found->value);
    })));
}

void check_pair(row_view base, row_view change) {
    property_finder found{base};
    for (property_view const& each : properties_of(change)) { check_found(base, each.name, found.find(each.name)); }
    CHECK(found.find("not there") == nullptr);
    auto const merged = merged_payload(base.payload, change.payload);
    REQUIRE(check_payload(merged));
    bool const held = holds_properties(base, change);
    bool const same = same_properties(base, change);
    if (are_different(base) && are_different(change)) {
        REQUIRE(merged == slowly_merged(base, change));
        REQUIRE(held == slowly_holds(base, change));
        REQUIRE(same == (slowly_holds(base, change) && slowly_holds(change, base)));
    }
}

} // namespace

TEST_CASE("many properties of a row are found as if searched one by one") {
    std::mt19937 draw{1};
    for (int round = 0; round < 3000; ++round) {
        names const all = drawn_names(draw);
        row const base = row_of(all, draw);
        row const change = row_of(related(all, draw), draw);
        CAPTURE(round);
        check_pair(base, change);
        check_pair(change, base);
        property_finder found{base};
        for (int asked = 0; asked < 20; ++asked) {
            std::string const& name = alphabet[draw() % alphabet.size()];
            check_found(base, name, found.find(name));
            if (are_different(base)) { check_equal(found.value(name), base.view().find(name)); }
        }
    }
}

TEST_CASE("names that collide in the hash table are all found") {
    std::mt19937 draw{2};
    for (std::size_t const count : {20U, 250U}) {
        names all = crowd(count);
        row const base = row_of(all, draw);
        check_pair(base, row_of(all, draw));
        std::reverse(all.begin(), all.end());
        check_pair(base, row_of(all, draw));
        all.insert(all.end(), all.begin(), all.begin() + 10); // twice
        check_pair(base, row_of(all, draw));
        check_pair(row_of(all, draw), base);
    }
}

TEST_CASE("a hash table changes its seed only if names collide") {
    names plain;
    for (int number = 0; number < 250; ++number) { plain.push_back("p" + std::to_string(number)); }
    for (names const& all : {crowd(250), plain}) {
        name_table table;
        table.reserve(all.size());
        for (std::size_t number = 0; number < all.size(); ++number) {
            CHECK(table.add(all[number], number) == nullptr);
        }
        CHECK((table.seed() == name_table::first_seed) == (all == plain));
        for (std::size_t number = 0; number < all.size(); ++number) {
            REQUIRE(table.find(all[number]) != nullptr);
            CHECK(table.find(all[number])->number == number);
        }
        CHECK(table.find("not there") == nullptr);
    }
}

TEST_CASE("no byte outside a damaged row is read") {
    std::mt19937 draw{3};
    row const whole = row_of({"b", "a", "", "aa", "ab", "c"}, draw);
    for (std::size_t size = 0; size <= whole.payload().size(); ++size) {
        std::unique_ptr<char[]> const bytes{new char[size + 1]};
        std::memcpy(bytes.get(), whole.payload().data(), size);
        for (std::size_t changed = 0; changed <= size; ++changed) { // one byte each time; the last round none
            char const was = bytes[changed];
            bytes[changed] = static_cast<char>(changed == size ? was : '\xFE');
            row_view const cut{"p", "r", {bytes.get(), size}};
            property_finder found{cut};
            for (char const* const name : {"aa", "b", "c", "", "a"}) { check_found(cut, name, found.find(name)); }
            bytes[changed] = was;
        }
    }
}
