// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Bodies of transactions look for rows before these exist, with a unique index and with sums, in every order of their requests: additions by
// the library to a transaction never rely on an outdated absence.

#include "support/catch.hpp"
#include "support/entities.hpp"
#include "support/long.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>

#include <set>

using namespace entitable;
using entitable_test::person;

namespace {

struct only : person {};
ENTITABLE(only, partition_key(team), row_key(literal("U:"), city), properties(id))
struct headcount {
    std::string team;
    std::string city;
    std::int64_t people{};
    static headcount key(person const& of) { return {of.team, of.city}; }
    void add(person const&) { ++people; }
    void subtract(person const&) { --people; }
};
ENTITABLE(headcount, partition_key(team), row_key(literal("SUM:"), city), properties(people))

using one_a_city = table<person, unique<only>>;
using summed = table<person, headcount>;

template <class Table>
Table open(any_store through, entitable::clock& time, std::uint64_t seed) {
    table_options how;
    how.max_attempts = 3;
    how.time = &time;
    how.seed = seed;
    return Table{std::move(through), "people", how};
}

/// Looks for the other runner, who may not exist, and moves to Bath unless he is there.
result<void> come(transaction<person>& in, std::int32_t own, std::int32_t other) {
    ENTITABLE_TRY(auto const found, in.find(other));
    ENTITABLE_TRY(auto const mine, in.find(own));
    if (mine) {
        return in.update(own, [](person& one) { one.city = "Bath"; });
    }
    if (!found) { in.insert(person{"red", own, "Bath"}); }
    return {};
}

std::string two_with_one_key(memory_backend const& store) {
    std::set<std::string> cities;
    for (person const& one : table<person>{store, "people"}.where(fields<person>::team == "red")) {
        if (!cities.insert(one.city).second) { return "two entities with one key"; }
        auto const row = table<only>{store, "people"}.find("red", one.city).value();
        if (!row || row->id != one.id) { return "an entity that the index does not find"; }
    }
    return {};
}
std::string wrong_sum(memory_backend const& store) {
    std::map<std::string, std::int64_t> right;
    for (person const& one : table<person>{store, "people"}.where(fields<person>::team == "red")) { ++right[one.city]; }
    for (headcount const& sum : table<headcount>{store, "people"}.where(fields<headcount>::team == "red")) {
        if (sum.people != right[sum.city]) { return "a sum that is not that of its parts"; }
        right.erase(sum.city);
    }
    return right.empty() ? "" : "a sum that is missing";
}

template <class Table>
void walk(std::string (*wrong)(memory_backend const&), bool one_is_there, std::size_t bodies,
    testing::interleaving_limits limits = {.faults = 0, .late = 0}) {
    limits.most_states = entitable_test::rounds(300, 100'000, 5'000);
    auto const told = testing::interleavings(
        [&](testing::stage& on) {
            auto const begun = open<Table>(on.store(), on.time(), 9);
            begun.create().value();
            if (one_is_there) { begun.insert({"red", 1, "York"}).value(); }
            for (std::size_t body = 0; body < bodies; ++body) {
                auto const own = static_cast<std::int32_t>(body + 1);
                std::int32_t const other = body == 0 ? 2 : 1;
                on.add(
                    "body " + std::to_string(own),
                    [&on, own, other] {
                        auto const runs = [own, other](any_store way, entitable::clock& time) -> result<void> {
                            auto const people = open<Table>(way, time, static_cast<std::uint64_t>(own));
                            ENTITABLE_CHECK(
                                people.transact("red", [&](transaction<person>& in) { return come(in, own, other); }));
                            return {};
                        };
                        return testing::program<result<void>>{runs, on.time().steady()};
                    },
                    [](result<void> const&) {});
            }
            on.always([&on, wrong] { return wrong(on.store()); });
        },
        limits);
    CAPTURE(told.schedule, told.states);
    CHECK(told.problem == "");
}

} // namespace

TEST_CASE("absent rows: two or three bodies compete for one key of a unique index") {
    for (bool const one_is_there : {false, true}) {
        walk<one_a_city>(two_with_one_key, one_is_there, 2);
        walk<one_a_city>(two_with_one_key, one_is_there, 3);
        walk<one_a_city>(two_with_one_key, one_is_there, 2, {.faults = 1, .late = 1});
    }
}

TEST_CASE("absent rows: two or three bodies add to one sum") {
    for (bool const one_is_there : {false, true}) {
        walk<summed>(wrong_sum, one_is_there, 2);
        walk<summed>(wrong_sum, one_is_there, 3);
        walk<summed>(wrong_sum, one_is_there, 2, {.faults = 1, .late = 1});
    }
}
