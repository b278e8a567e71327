// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Programs with different lists of indexes, builds and retirements in every order in which their requests can reach the store, while time
// passes; and the same without one of the rules, which is detected.

#include "support/catch.hpp"
#include "support/entities.hpp"
#include "support/long.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>

using namespace entitable;
using entitable_test::person;

namespace {

struct by_city : person {};
ENTITABLE(by_city, partition_key(team), row_key(literal("C:"), city, id), properties())
struct also : person {};
ENTITABLE(also, partition_key(team), row_key(literal("A:"), city, id), properties())

using narrow = table<person, by_city>;
using wider = table<person, by_city, also>;
using f = fields<also>;

constexpr std::chrono::seconds lease{10};
constexpr std::chrono::seconds longest{10};

template <class Table>
Table open(any_store through, entitable::clock& time, std::uint64_t seed, std::chrono::seconds relies = lease,
    std::chrono::seconds waits_for = longest) {
    table_options how;
    how.max_attempts = 3;
    how.time = &time;
    how.seed = seed;
    how.lease = relies;
    how.longest_request = waits_for;
    return Table{std::move(through), "people", how};
}

/// A ready index has a row for each entity.
std::string hole(memory_backend const& store) {
    testing::manual_clock time;
    if (open<wider>(store, time, 9).state<also>().value() != index_state::ready) { return {}; }
    for (person const& one : table<person>{store, "people"}.where(fields<person>::team == "red")) {
        if (!table<also>{store, "people"}.find("red", one.city, one.id).value()) {
            return "an index that is ready lacks the row of an entity";
        }
    }
    return {};
}

/// The actions of one of the programs.
struct cast {
    std::string name;
    std::function<result<void>(any_store, entitable::clock&)> does;
    bool bounded{}; ///< its requests reach the store before the longest request is over
};

testing::interleaving_report walk(std::vector<cast> const& actors, bool index_is_there,
    testing::interleaving_limits limits = {.faults = 0, .late = 0}) {
    limits.most_states = entitable_test::rounds(150, 200'000, 20'000);
    return testing::interleavings(
        [&](testing::stage& on) {
            auto& seen = on.keep<std::string>();
            table<person>{on.store(), "acknowledged"}.create().value();
            if (index_is_there) {
                open<wider>(on.store(), on.time(), 8).create().value();
                open<wider>(on.store(), on.time(), 8).insert({"red", 1, "York"}).value();
            } else {
                open<narrow>(on.store(), on.time(), 8).create().value();
                open<narrow>(on.store(), on.time(), 8).insert({"red", 1, "York"}).value();
            }
            for (cast const& each : actors) {
                auto const begun = on.time().steady();
                on.add(
                    each.name, [&on, each] { return testing::program<result<void>>{each.does, on.time().steady()}; },
                    [&seen](result<void> const& ended) {
                        if (!ended && ended.error().code == error_code::row_mismatch) { seen = ended.error().message; }
                    },
                    each.bounded ? begun + lease + longest - std::chrono::seconds{1} : (steady_time::max)());
            }
            on.remember([&seen] { return seen; });
            on.always([&on, &seen] { return seen.empty() ? hole(on.store()) : seen; });
        },
        limits);
}

template <class Table>
cast writer(std::string name, std::chrono::seconds relies = lease) {
    return {std::move(name),
        [relies](any_store way, entitable::clock& time) -> result<void> {
            auto const people = open<Table>(way, time, 3, relies);
            for (std::int32_t const id : {2, 3}) { ENTITABLE_CHECK(people.insert({"red", id, "Bath"})); }
            return {};
        },
        true};
}
cast builder(std::chrono::seconds waits_lease = lease, std::chrono::seconds waits_for = longest) {
    return {"build", [=](any_store way, entitable::clock& time) -> result<void> {
                ENTITABLE_CHECK(open<wider>(way, time, 5, waits_lease, waits_for).build<also>());
                return {};
            }};
}
cast retirement(std::chrono::seconds waits_lease = lease, std::chrono::seconds waits_for = longest) {
    return {"retire", [=](any_store way, entitable::clock& time) -> result<void> {
                return open<wider>(way, time, 6, waits_lease, waits_for).retire<also>();
            }};
}
/// Reads twice. Either everything acknowledged before a read is found, or the read is refused.
cast two_readings() {
    return {"reader",
        [](any_store way, entitable::clock& time) -> result<void> {
            auto const people = open<wider>(way, time, 7);
            for (int round = 0; round < 2; ++round) {
                bool const acknowledged = table<person>{way, "acknowledged"}.get("red", 2).has_value();
                auto const found = people.by<also>().where(f::team == "red").to();
                if (found && found->size() < (acknowledged ? 2U : 1U)) {
                    return failure{error_code::row_mismatch, "a reader does not find an entity that was acknowledged"};
                }
            }
            return {};
        },
        true};
}
/// Writes one entity, then a record that it did.
cast acknowledging() {
    return {"writer", [](any_store way, entitable::clock& time) -> result<void> {
                ENTITABLE_CHECK(open<wider>(way, time, 4).insert({"red", 2, "Bath"}));
                ENTITABLE_CHECK(table<person>{way, "acknowledged"}.insert({"red", 2, "Bath"}));
                return {};
            }};
}
/// Waits, so that time passes between the requests of others.
cast ticking() {
    return {"clock", [](any_store way, entitable::clock& time) -> result<void> {
                time.wait_until(time.steady() + lease + std::chrono::seconds{1});
                static_cast<void>(table<person>{way, "people"}.find("red", 1));
                return {};
            }};
}

void check(testing::interleaving_report const& told) {
    CAPTURE(told.schedule);
    CHECK(told.problem == "");
}
void check_found(testing::interleaving_report const& told, std::string const& what) {
    CAPTURE(told.states);
    CHECK(told.problem == what);
}

} // namespace

TEST_CASE(
    "lists of indexes: a build runs concurrently with a program that does not declare the index, while time passes") {
    check(walk({builder(), writer<narrow>("older"), ticking()}, false));
    check(walk({builder(), writer<wider>("newer"), ticking()}, false));
    check(walk({builder(), writer<narrow>("older")}, false, {.faults = 0, .late = 0, .crashes = 1}));
}

TEST_CASE("lists of indexes: a retirement runs concurrently with a reader and a writer") {
    check(walk({retirement(), two_readings(), acknowledging()}, true));
    check(walk({retirement(), builder(), writer<wider>("writer")}, true));
}

TEST_CASE("lists of indexes: if any rule is omitted, some schedule loses index rows") {
    if (entitable_test::rounds(0, 1, 1) == 0) {
        return; // thousands of schedules, which the optimized build walks through
    }
    std::string const lacks = "an index that is ready lacks the row of an entity";
    constexpr std::chrono::seconds none{0};
    constexpr std::chrono::hours too_long{1};
    check_found(walk({builder(none, none), writer<narrow>("older"), ticking()}, false), lacks); // no program waits
    check_found(walk({builder(lease, none), writer<narrow>("older", too_long), ticking()}, false), lacks);
    check_found(walk({retirement(none, none), two_readings(), acknowledging()}, true),
        "a reader does not find an entity that was acknowledged");
}
