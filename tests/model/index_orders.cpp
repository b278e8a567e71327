// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Writers, repairs and builds of indexes in every order in which their requests can reach the store, with lost and late requests and
// programs that end; and the same with defects, each of which is detected.

#include "support/catch.hpp"
#include "support/defects.hpp"
#include "support/long.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>

#include <functional>

using namespace entitable;
using entitable_test::through_defect;
using entitable_test::with_defect;
using entitable_test::with_writes;

namespace {

struct person {
    std::string team;
    std::int32_t id{};
    std::string city;
    std::int32_t visits{};
};
ENTITABLE(person, partition_key(team), row_key(literal("P:"), id), properties(city, visits))
struct here : person {};
ENTITABLE(here, partition_key(team), row_key(literal("C:"), city, id), properties(visits))
struct there : person {};
ENTITABLE(there, partition_key(city), row_key(team, id), properties())
struct only : person {};
ENTITABLE(only, partition_key(city), row_key(literal("U:")), properties(team, id))

using in_partition = table<person, here>;
using in_city = table<person, elsewhere<there>>;
using one_a_city = table<person, elsewhere<unique<only>>>;

template <class Table>
Table open(any_store through, entitable::clock& time, std::uint64_t seed, std::uint32_t max_attempts = 3) {
    table_options how;
    how.max_attempts = max_attempts;
    how.time = &time;
    how.seed = seed;
    if constexpr (std::is_same_v<Table, in_partition>) {
        return Table{std::move(through), "people", how};
    } else if constexpr (std::is_same_v<Table, in_city>) {
        return Table{through, "people", how, in_table<there>{through, "cities"}};
    } else {
        return Table{through, "people", how, in_table<only>{through, "cities"}};
    }
}

/// How many ended with each outcome.
struct tally {
    int good{};
    int unknown{};
    int none{};
    std::string codes;
};

template <class Table>
struct cast {
    std::string name;
    std::function<result<void>(Table const&)> does;
    through_defect defect{};
    bool counts{true};
    std::uint32_t max_attempts{3};
};

/// A problem at any time: an entity without its index row.
template <class Table>
std::string missing(memory_backend const& store) {
    table<person> const people{store, "people"};
    for (std::int32_t const id : {1, 2}) {
        auto const one = people.find("red", id).value();
        if (!one) { continue; }
        bool found = false;
        if constexpr (std::is_same_v<Table, in_partition>) {
            found = table<here>{store, "people"}.find("red", one->city, id).value().has_value();
        } else if constexpr (std::is_same_v<Table, in_city>) {
            found = table<there>{store, "cities"}.find(one->city, "red", id).value().has_value();
        } else {
            auto const row = table<only>{store, "cities"}.find(one->city).value();
            found = row && row->id == id;
        }
        if (!found) { return "an entity without its index row"; }
    }
    return "";
}

template <class Table>
testing::interleaving_report walk(std::vector<cast<Table>> const& actors, testing::interleaving_limits limits,
    std::function<void(Table const&)> const& begin,
    std::function<std::string(Table const&, tally const&, std::size_t)> const& end = {}, std::size_t most = 0) {
    limits.most_states = most != 0 ? most : entitable_test::rounds(200, 200'000, 4'000);
    return testing::interleavings(
        [&](testing::stage& on) {
            auto const people = open<Table>(on.store(), on.time(), 98);
            people.create().value();
            begin(people);
            auto& told = on.keep<tally>();
            std::uint64_t seed = 0;
            for (cast<Table> const& each : actors) {
                ++seed;
                on.add(
                    each.name,
                    [&on, each, seed] {
                        auto const runs = [each, seed](any_store way, entitable::clock& time) {
                            return each.does(
                                open<Table>(each.defect ? each.defect(way) : way, time, seed, each.max_attempts));
                        };
                        return testing::program<result<void>>{runs, on.time().steady()};
                    },
                    [&told, each](result<void> const& done) {
                        if (done) {
                            told.good += each.counts ? 1 : 0;
                        } else if (done.error().effect == effect::unknown) {
                            ++told.unknown;
                        } else {
                            ++told.none;
                            told.codes += to_string(done.error().code);
                        }
                    });
            }
            on.remember(
                [&told] { return std::to_string(told.good) + ' ' + std::to_string(told.unknown) + ' ' + told.codes; });
            on.always([&on] { return missing<Table>(on.store()); });
            on.at_end([&on, &told, end, limits] {
                auto const at_last = open<Table>(on.store(), on.time(), 97);
                auto const seen = at_last.verify().value().indexes;
                // A request of unknown outcome may leave a row, however it ends; nothing else may.
                if (limits.faults + limits.crashes == 0 && seen.dangling + seen.different > 0) {
                    return std::string{"rows too many, though all went well"};
                }
                if (end) {
                    if (std::string const wrong = end(at_last, told, on.crashed()); !wrong.empty()) { return wrong; }
                }
                at_last.repair().value();
                return at_last.verify().value().good() ? std::string{} : std::string{"not good after a repair"};
            });
        },
        limits);
}

template <class Table>
result<void> move(Table const& at_last, std::int32_t id, std::string const& to) {
    ENTITABLE_CHECK(at_last.update("red", id, [&](person& one) {
        one.city = to;
        ++one.visits;
    }));
    return {};
}

/// Each acknowledged move is applied once, one of unknown effect at most once.
template <class Table>
std::string keeps_count(Table const& people, tally const& told, std::size_t crashed) {
    auto const visits = people.get("red", 1).value().visits;
    int const least = told.good;
    int const most = told.good + told.unknown + static_cast<int>(crashed);
    return visits < least ? "a move is lost" : visits > most ? "a move was made twice, or one that was refused" : "";
}

template <class Table>
void one_in_york(Table const& people) {
    people.insert({"red", 1, "York", 0}).value();
}

testing::interleaving_limits const quiet{.faults = 0, .late = 0};
testing::interleaving_limits const one_crash{.faults = 0, .late = 0, .crashes = 1};

template <class Table>
cast<Table> mover(std::int32_t id, std::string const& to) {
    return {"to " + to, [id, to](Table const& people) { return move(people, id, to); }};
}
template <class Table>
cast<Table> remover() {
    return {"removal", [](Table const& people) -> result<void> {
                ENTITABLE_CHECK(people.remove("red", 1, any_etag));
                return {};
            }};
}
template <class Table>
cast<Table> applier() {
    return {"apply_pending",
        [](Table const& people) -> result<void> {
            ENTITABLE_CHECK(people.apply_pending());
            return {};
        },
        {}, false};
}

bool is_intent(mutation const& of) { return of.entity.row_key().starts_with("~!ix!"); }

/// Index rows are written and removed regardless of their version.
through_defect unconditional() {
    return with_writes([](std::string const& table, mutation one) -> std::optional<mutation> {
        if (table == "cities" && one.needs_existing()) { one.condition = any_etag; }
        return one;
    });
}
/// An existing index row is assumed to be right, and not written again.
through_defect keeps_what_is_there() {
    return with_writes([](std::string const& table, mutation one) -> std::optional<mutation> {
        bool const again = table == "cities" && one.kind == mutation_kind::replace;
        return again ? std::nullopt : std::optional{std::move(one)};
    });
}
/// An intent is undone in any state.
through_defect overwrites_applied() {
    return with_writes([](std::string const&, mutation one) -> std::optional<mutation> {
        if (is_intent(one) && one.kind == mutation_kind::merge) { one.condition = any_etag; }
        return one;
    });
}
/// An intent stays pending although it was abandoned.
through_defect never_undoes() {
    return with_writes([](std::string const&, mutation one) -> std::optional<mutation> {
        bool const undoes = is_intent(one) && one.kind == mutation_kind::merge;
        return undoes ? std::nullopt : std::optional{std::move(one)};
    });
}
/// The intents of an entity are not looked for before its row is removed.
through_defect without_intents() {
    return with_defect([]<class Request>(any_store const& below, Request const& request, call& context) {
        if constexpr (std::same_as<Request, query_entities>) {
            std::string const& first = request.range.row.lower.key;
            bool const of_an_entity = first.starts_with("~!ix!") && first.size() > 5;
            return of_an_entity ? result<query_entities::response>{std::in_place} : below.execute(request, context);
        } else {
            return below.execute(request, context);
        }
    });
}
/// The answer to the first transaction is lost.
through_defect loses_an_answer() {
    return [](any_store below) {
        return with_defect([lost = std::make_shared<int>(0)]<class Request>(
                               any_store const& way, Request const& request, call& context) {
            auto answer = way.execute(request, context);
            if constexpr (std::same_as<Request, transact>) {
                if (answer && (*lost)++ == 0) { return result<transact::response>{failure{testing::lost_request()}}; }
            }
            return answer;
        })(std::move(below));
    };
}

template <class Table>
cast<Table> with(through_defect defect, cast<Table> one) {
    one.defect = std::move(defect);
    return one;
}
/// The first problem that a walk finds; there are few states in total.
std::string problem_of(std::vector<cast<in_city>> const& actors, testing::interleaving_limits limits,
    std::function<void(in_city const&)> const& begin) {
    auto const told = walk<in_city>(actors, limits, begin, keeps_count<in_city>, 20'000);
    CAPTURE(told.schedule);
    return told.problem;
}
/// One row too many, left with its intent by a writer that was to move the entity to Bath.
void left_behind(in_city const& people, intent_state state) {
    one_in_york(people);
    any_store const store = people.unmaintained().store();
    there row;
    static_cast<person&>(row) = {"red", 1, "Bath", 0};
    table<there>{store, "cities"}.insert(row).value();
    intent const left{{"red", row_key_of(person{"red", 1, "York", 0}).value()}, std::string(32, 'd'), {}, state,
        {{"there", std::nullopt, row_keys{"Bath", row_key_of(row).value()}}}};
    call context;
    store.execute(write_entity{"people", mutation::insert(left.to_row())}, context).value();
}

void check(testing::interleaving_report const& told) {
    CAPTURE(told.schedule);
    CHECK(told.problem == "");
    CHECK((told.complete || entitable_test::rounds(0, 1) == 0)); // all of them in the long run
}

} // namespace

TEMPLATE_TEST_CASE("indexes: two writers can run in any order", "", in_partition, in_city) {
    std::vector<cast<TestType>> const both{mover<TestType>(1, "Bath"), mover<TestType>(1, "Ely")};
    check(walk<TestType>(both, quiet, one_in_york<TestType>, keeps_count<TestType>));
}

TEMPLATE_TEST_CASE("indexes: one writer survives lost and late requests and a crash", "", in_partition, in_city) {
    std::vector<cast<TestType>> const one{mover<TestType>(1, "Bath")};
    check(walk<TestType>(one, {.faults = 2, .late = 1}, one_in_york<TestType>, keeps_count<TestType>));
    check(walk<TestType>(one, {.faults = 1, .late = 1, .crashes = 1}, one_in_york<TestType>, keeps_count<TestType>));
}

TEST_CASE("indexes in other tables: other programs complete the work of one writer") {
    for (intent_state const state : {intent_state::pending, intent_state::applied, intent_state::undone}) {
        check(walk<in_city>(
            {mover<in_city>(1, "Bath"), applier<in_city>()}, quiet,
            [state](in_city const& people) { left_behind(people, state); }, keeps_count<in_city>,
            entitable_test::rounds(100, 200'000, 1'500)));
    }
}

TEST_CASE("indexes in other tables: a removal and a move can run in any order") {
    check(walk<in_city>({mover<in_city>(1, "Bath"), remover<in_city>()}, quiet, one_in_york<in_city>));
}

TEST_CASE("unique indexes in other tables: two entities compete for one key") {
    auto const two_people = [](one_a_city const& people) {
        people.insert({"red", 1, "York", 0}).value();
        people.insert({"red", 2, "Ely", 0}).value();
    };
    auto const one_has_it = [](one_a_city const&, tally const& seen, std::size_t) {
        return seen.good > 1 ? std::string{"both have it"} : std::string{};
    };
    check(
        walk<one_a_city>({mover<one_a_city>(1, "Bath"), mover<one_a_city>(2, "Bath")}, quiet, two_people, one_has_it));
}

TEST_CASE("indexes in other tables: each rule of the protocol is necessary") {
    if (entitable_test::rounds(0, 1, 1) == 0) {
        return; // thousands of schedules, which the optimized build walks through
    }
    auto const bath = mover<in_city>(1, "Bath");
    auto const back = mover<in_city>(1, "York");
    auto const apply = applier<in_city>();
    auto const york = one_in_york<in_city>;
    auto const pending = [](in_city const& people) { left_behind(people, intent_state::pending); };
    testing::interleaving_limits const late{.faults = 1, .late = 1};
    auto gives_up = bath;
    gives_up.max_attempts = 1;
    CHECK(problem_of({with(unconditional(), bath), with(unconditional(), back)}, quiet, york) != "");
    CHECK(problem_of({with(keeps_what_is_there(), bath), apply}, quiet, pending) != "");
    CHECK(problem_of({bath, with(without_intents(), apply)}, quiet, pending) != "");
    CHECK(problem_of({with(never_undoes(), gives_up)}, late, york) != "");
    check(walk<in_city>({gives_up}, late, york, keeps_count<in_city>));
    CHECK(problem_of({with(loses_an_answer(), bath), with(overwrites_applied(), apply)}, quiet, york) != "");
    check(walk<in_city>({with(loses_an_answer(), bath), apply}, quiet, york, keeps_count<in_city>));
}
