// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What is stored of a saga is what its steps did: at each moment, whichever step fails, however it fails, whichever undo fails until its cause is
// mended, with workers that end at each request, requests that are lost or late, and a second worker on the same saga. The steps keep a
// ledger of their own, in a table. And the same with defects, each of which is found.

#include "support/catch.hpp"
#include "support/long.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/crash_points.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>

#include <functional>

using namespace entitable;
using namespace std::chrono_literals;

namespace {

struct order {
    std::string id;
};
ENTITABLE(order, partition_key(id), row_key(literal("order")), properties())

/// A line of the ledger: a part of what a step does. An undo leaves it there, so that an effect that is late is refused.
struct act {
    std::string order_id;
    std::string name; // "room a"
    bool undone{};
};
ENTITABLE(act, partition_key(order_id), row_key(name), properties(undone))

constexpr std::array<std::string_view, 4> names{"room", "letter", "seat", "pay"};
constexpr std::size_t letter = 1; // which has no undo

enum class way : std::uint8_t {
    before,     ///< the step fails before it acts
    states,     ///< the same, and it states that it had no effect
    half,       ///< it fails when half of it is done
    after,      ///< it fails when it is done
    later_runs, ///< its first run acts; when another worker has come, it fails and states that this run had no effect
};

struct plan {
    std::size_t fails{4}; ///< the step that fails
    way how{};
    std::size_t blocked{4}; ///< the step whose undo fails for good until it is mended, when half of it is done
    bool undoes{true};      ///< else no step has an undo, and the step that fails does so until it is mended
    std::size_t parts{2};   ///< requests of a step
    bool leaves_no_mark{};  ///< a defect: undos remove the lines of the ledger
};

struct house {
    any_store store;
    plan of;
    table<act> acts{store, "acts"};

    [[nodiscard]] static std::string part(std::size_t step, std::size_t number) {
        return std::string{names[step]} + ' ' + static_cast<char>('a' + number);
    }
    [[nodiscard]] result<bool> flag(std::string_view name) const {
        ENTITABLE_TRY(auto const found, acts.find("x", std::string{name}));
        return found.has_value();
    }
    [[nodiscard]] result<void> write(std::size_t step, std::size_t number) const {
        auto const made = acts.insert({"x", part(step, number)});
        if (made || made.error().code != error_code::entity_already_exists) { return made; }
        ENTITABLE_TRY(auto const there, acts.get("x", part(step, number)));
        return there.undone ? result<void>{failure{error_code::out_of_range_input, "it was undone"}} : result<void>{};
    }
    [[nodiscard]] step_result run(std::size_t step) const {
        bool const fails = of.fails == step;
        bool mended = false;
        if (fails && !of.undoes) { ENTITABLE_TRY(mended, flag("mended")); }
        failure no{error_code::out_of_range_input, "no"};
        if (fails && !mended && of.how == way::before) { return no; }
        if (fails && !mended && of.how == way::states) { return no_effect{no.error()}; }
        if (fails && !mended && of.how == way::later_runs) {
            ENTITABLE_TRY(bool const later, flag("sold out"));
            if (later) { return no_effect{no.error()}; }
        }
        for (std::size_t number = 0; number < of.parts; ++number) {
            ENTITABLE_CHECK(write(step, number));
            if (fails && !mended && of.how == way::half) { return no; }
        }
        return fails && !mended && of.how == way::after ? step_result{std::move(no)} : step_result{};
    }
    [[nodiscard]] result<void> undo(std::size_t step) const {
        for (std::size_t number = 0; number < of.parts; ++number) {
            if (of.leaves_no_mark) {
                ENTITABLE_CHECK(acts.remove_if_present("x", part(step, number), any_etag));
            } else {
                ENTITABLE_CHECK(acts.insert_or_replace({"x", part(step, number), true}));
            }
            if (of.blocked == step && number == 0) {
                ENTITABLE_TRY(bool const mended, flag("mended"));
                if (!mended) { return failure{error_code::out_of_range_input, "the undo is blocked"}; }
            }
        }
        return {};
    }

    template <class Make>
    [[nodiscard]] auto steps(Make const& make) const {
        auto plain = step(names[letter], [here = *this](order const&) { return here.run(letter); });
        return saga_for<order>("travel", make(0), std::move(plain), make(2), make(3));
    }
    [[nodiscard]] auto with_undo() const {
        return steps([this](std::size_t index) {
            return step(
                names[index], [here = *this, index](order const&) { return here.run(index); },
                [here = *this, index](order const&) { return here.undo(index); });
        });
    }
    [[nodiscard]] auto without_undo() const {
        return steps([this](std::size_t index) {
            return step(names[index], [here = *this, index](order const&) { return here.run(index); });
        });
    }
    [[nodiscard]] result<saga_outcome> resume(claimed<order>& item) const {
        return of.undoes ? with_undo().resume(item) : without_undo().resume(item);
    }
    [[nodiscard]] result<std::vector<stuck_saga<order>>> stuck(table_queue<order> const& queue) const {
        return of.undoes ? with_undo().stuck(queue) : without_undo().stuck(queue);
    }
};

table_queue<order> queue_on(any_store through, entitable::clock& time, std::uint64_t seed) {
    queue_options how;
    how.lanes = 1;
    how.time = &time;
    how.seed = seed;
    how.max_attempts = 4;
    how.max_deliveries = 2;
    how.polling = {.base = 40s, .least = 40s, .most = 40s, .jitter = 0};
    how.delays = {};
    return table_queue<order>{std::move(through), "orders", how};
}

void begin(house const& here, entitable::clock& time) {
    here.acts.create().value();
    auto const queue = queue_on(here.store, time, 97);
    queue.create().value();
    queue.enqueue({"x"}, {.id = "x"}).value();
}
/// One delivery. What an end in error says.
std::string work(house const& here, entitable::clock& time, std::uint64_t seed, std::chrono::nanoseconds wait = {}) {
    auto item = queue_on(here.store, time, seed).claim({.wait = wait});
    if (!item || !*item) { return ""; }
    auto const ended = here.resume(**item);
    if (ended) {
        static_cast<void>((*item)->complete());
    } else if (ended.error().code == error_code::saga_differs || ended.error().code == error_code::invalid_input) {
        return ended.error().to_string();
    }
    return "";
}

/// Which steps stand by the ledger: how many parts of each.
std::array<std::size_t, 4> standing(house const& here) {
    std::array<std::size_t, 4> made{};
    for (std::size_t step = 0; step < names.size(); ++step) {
        for (std::size_t number = 0; number < here.of.parts; ++number) {
            auto const found = here.acts.find("x", house::part(step, number)).value();
            made[step] += found && !found->undone ? 1U : 0U;
        }
    }
    return made;
}
/// Compares states of steps with the ledger: what is wrong.
std::string compared(house const& here, std::vector<step_state> const& states) {
    auto const there = standing(here);
    std::size_t open = 0;
    std::size_t const most_open = here.of.fails == letter ? 2 : 1; // without an undo it stays unknown
    for (std::size_t step = 0; step < states.size(); ++step) {
        bool const wrong = (states[step] == step_state::done && there[step] != here.of.parts) ||
            (!may_stand(states[step]) && there[step] != 0);
        if (wrong) {
            return std::string{names[step]} + " is stored as " + std::string{to_string(states[step])} + ", with " +
                std::to_string(there[step]) + " parts there";
        }
        open += states[step] == step_state::unknown || states[step] == step_state::being_undone ? 1U : 0U;
    }
    return states.size() != 4 ? "no states" : open > most_open ? "too little is known" : "";
}
/// What is stored of the saga, in its message or its dead letter, against what its steps did.
std::string wrong_now(house const& here) {
    std::string problem;
    constexpr std::array with{true, false, true, true};
    constexpr std::array<bool, 4> without{};
    std::int64_t const hash = detail::steps_hash("travel", names.data(), names.size());
    call context;
    auto const page =
        here.store.execute(query_entities{"orders", {key_interval::only("lane000"), {}}, {}, {}, 1000, {}}, context);
    for (std::size_t index = 0; page && index < page->rows.size(); ++index) {
        row_view const each = page->rows[index];
        if (each.row_key.starts_with("~!q!") || each.row_key.starts_with("~!dead!")) {
            auto const place =
                detail::saga_place_of(each, hash, here.of.undoes ? with.data() : without.data(), names.size());
            problem += compared(here, place.states);
        }
    }
    return problem;
}
/// What is wrong when nothing is left in the queue.
std::string wrong_at_end(house const& here, entitable::clock& time) {
    auto const size = queue_on(here.store, time, 96).approximate_size().value();
    if (size.ready + size.held + size.dead_letters != 0) { return "something is left in the queue"; }
    auto const there = standing(here);
    std::size_t const parts = here.of.parts;
    bool const all = there[0] == parts && there[1] == parts && there[2] == parts && there[3] == parts;
    bool const none = there[0] + there[2] + there[3] == 0;
    return all || (none && here.of.undoes) ? "" : "it ended in the middle";
}
/// An operator: looks at what is stuck, mends the cause, and puts it back.
struct operator_at_work {
    std::size_t found{};
    std::string problem;
    void look(house const& here, entitable::clock& time) {
        auto const queue = queue_on(here.store, time, 95);
        auto const all = here.stuck(queue).value();
        for (auto const& each : all) {
            ++found;
            std::vector<step_state> states;
            for (step_report const& step : each.steps) { states.push_back(step.state); }
            problem += compared(here, states);
            problem += each.going_back == each.failed_because.empty() ? "an operator does not see why" : "";
            static_cast<void>(here.acts.insert_or_replace({"x", "mended"}));
            queue.requeue(each.letter).value();
        }
    }
};

struct walked {
    std::size_t points{};
    std::size_t stuck{};
    std::string problem;
};
walked at_each_point(plan const& of) {
    walked told;
    operator_at_work operated;
    std::optional<any_store> store;
    std::size_t turn = 0;
    std::string problem;
    testing::crash_point_world world;
    world.begin = [&](any_store const& made, entitable::clock& time) {
        store.emplace(made);
        turn = 0;
        begin(house{made, of}, time);
    };
    world.workers = of.blocked != 4 || !of.undoes ? 9 : 5;
    world.shows = [](any_store const&) { return std::string{}; };
    world.wrong = [&](any_store const& made) {
        testing::manual_clock late;
        late.set(date_time::from_date(2026, 2, 1));
        std::string const end = wrong_at_end(house{made, of}, late);
        return problem + operated.problem + end;
    };
    auto const seen = testing::every_crash_point(
        [&](any_store through, entitable::clock& time) {
            house const raw{*store, of};
            if (++turn == 2) { // another worker than the first one
                raw.acts.insert_or_replace({"x", "sold out"}).value();
            }
            problem += work(house{std::move(through), of}, time, turn);
            problem += wrong_now(raw);
            operated.look(raw, time);
        },
        world);
    told.points = seen.points;
    told.stuck = operated.found;
    told.problem = seen.problem.empty() ? "" : seen.problem + " at " + seen.point;
    return told;
}

std::string text_of(plan const& of) {
    constexpr std::string_view ways[] = {"before", "states", "half", "after", "later runs"};
    return "fails " + std::to_string(of.fails) + ' ' + std::string{ways[static_cast<std::size_t>(of.how)]} +
        ", blocked " + std::to_string(of.blocked) + (of.undoes ? "" : ", without undo");
}

testing::interleaving_report walk(
    plan const& of, std::size_t workers, testing::interleaving_limits limits, std::size_t most) {
    limits.most_states = most;
    return testing::interleavings(
        [&](testing::stage& on) {
            house const here{on.store(), of};
            begin(here, on.time());
            auto& seen = on.keep<std::string>();
            for (std::size_t number = 0; number < workers; ++number) {
                on.add(
                    std::string(1, static_cast<char>('A' + number)),
                    [&on, of, number] {
                        auto const runs = [of, number](any_store way, entitable::clock& time) {
                            house const mine{std::move(way), of};
                            if (number > 0) { static_cast<void>(mine.acts.insert_or_replace({"x", "sold out"})); }
                            return work(mine, time, number + 1, number > 0 ? 90s : 0s);
                        };
                        return testing::program<std::string>{runs, on.time().steady()};
                    },
                    [&seen](std::string const& said) { seen += said; });
            }
            on.remember([&seen] { return seen; });
            on.always([here, &seen] { return seen + wrong_now(here); });
            on.at_end([here, &on]() -> std::string {
                operator_at_work operated;
                std::string problem;
                for (std::uint64_t round = 0; round < 9; ++round) { // whoever arrives later
                    on.time().advance(1min);
                    problem += work(here, on.time(), 80 + round) + wrong_now(here);
                    operated.look(here, on.time());
                }
                return problem + operated.problem + wrong_at_end(here, on.time());
            });
        },
        limits);
}

} // namespace

TEST_CASE("saga undo: a saga with four steps is interrupted at each crash point, whichever step fails and whichever "
          "undo is blocked") {
    std::size_t points = 0;
    std::size_t stuck = 0;
    bool const whole = entitable_test::rounds(0, 1, 1) == 1;
    std::size_t turn = 0;
    for (std::size_t fails = 0; fails <= 4; ++fails) {
        for (way const how : {way::before, way::states, way::half, way::after, way::later_runs}) {
            for (std::size_t const blocked : {std::size_t{0}, std::size_t{2}, std::size_t{3}, std::size_t{4}}) {
                if ((fails == 4 && how != way::before) || (!whole && ++turn % 8 != 1)) { continue; }
                plan const of{.fails = fails, .how = how, .blocked = blocked};
                CAPTURE(text_of(of));
                auto const seen = at_each_point(of);
                CHECK(seen.problem == "");
                CHECK(seen.points > 30);
                points += seen.points;
                stuck += seen.stuck;
            }
        }
    }
    CAPTURE(points, stuck);
    CHECK(points > 1000); // of an eighth of the plans
    CHECK(stuck > 400);
}

TEST_CASE("saga undo: a saga without undo steps that keeps failing until the fault is fixed, interrupted at each crash "
          "point") {
    std::size_t stuck = 0;
    bool const whole = entitable_test::rounds(0, 1, 1) == 1;
    for (std::size_t fails = 0; fails < 4; ++fails) {
        for (way const how : {way::before, way::states, way::half, way::after}) {
            if (!whole && fails != static_cast<std::size_t>(how)) { continue; }
            plan const of{.fails = fails, .how = how, .undoes = false};
            CAPTURE(text_of(of));
            auto const seen = at_each_point(of);
            CHECK(seen.problem == "");
            stuck += seen.stuck;
        }
    }
    CHECK(stuck > 200);
}

TEST_CASE("saga undo: two workers work on one saga") {
    auto const check = [](plan of, std::size_t workers, testing::interleaving_limits limits, bool complete = false) {
        of.parts = 1;
        auto const seen = walk(of, workers, limits, complete ? 20'000 : entitable_test::rounds(60, 300'000, 2'000));
        CAPTURE(text_of(of));
        CAPTURE(seen.schedule);
        CAPTURE(seen.states);
        CHECK(seen.problem == "");
        CHECK((seen.complete || (!complete && entitable_test::rounds(0, 1) == 0)));
    };
    testing::interleaving_limits const quiet{.faults = 0, .late = 0};
    testing::interleaving_limits const ends{.faults = 0, .late = 0, .crashes = 1};
    testing::interleaving_limits const loses{.faults = 1, .late = 0};
    testing::interleaving_limits const late{.faults = 0, .late = 1};
    for (way const how : {way::before, way::states, way::after, way::later_runs}) {
        plan const of{.fails = 2, .how = how, .blocked = how == way::after ? 0U : 4U};
        check(of, 1, ends, true);
        check(of, 1, loses);
        check(of, 1, late);
        check(of, 2, quiet);
        check(of, 2, ends);
        check(of, 2, late);
    }
}

TEST_CASE("saga undo: planted defects are found") {
    SECTION("an undo leaves no mark for a late step") {
        bool found = false;
        for (std::size_t const fails : {0U, 2U, 3U}) {
            found =
                found || !at_each_point({.fails = fails, .how = way::before, .leaves_no_mark = true}).problem.empty();
            found = found ||
                !at_each_point({.fails = fails, .how = way::later_runs, .leaves_no_mark = true}).problem.empty();
        }
        CHECK(found);
    }
}
