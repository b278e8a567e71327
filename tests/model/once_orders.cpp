// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Programs that run a function once for the same key, in every order in which their requests can reach the store, with lost and late requests
// and programs that end. And the same with defects, each of which is detected.

#include "support/catch.hpp"
#include "support/defects.hpp"
#include "support/long.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/once.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>

#include <memory>

using namespace entitable;
using entitable_test::through_defect;
using entitable_test::with_writes;

namespace {

/// The function of a program: sends a mail, or finds that it cannot.
enum class mail : std::uint8_t { sent, refused };

struct cast {
    std::string name;
    mail how{mail::sent};
    through_defect defect{};
};

/// The runs of all programs.
struct runs {
    int now{};    ///< at the same time
    int sent{};   ///< mails, of which there may be one
    int ended{};  ///< programs with an outcome
    int good{};   ///< of them, with success
    int failed{}; ///< of them, with an error that is not one of `once`
    std::string problem;

    void enter() {
        if (++now > 1) { problem = "two runs overlap"; }
    }
    void leave(bool with_mail) {
        --now;
        sent += with_mail ? 1 : 0;
        if (sent > 1) { problem = "two mails"; }
    }
    void add(result<once_outcome> const& done) {
        ++ended;
        good += done ? 1 : 0;
        failed += !done && done.error().code != error_code::store_busy ? 1 : 0;
    }
    [[nodiscard]] std::string text() const {
        return std::to_string(now) + ' ' + std::to_string(sent) + ' ' + std::to_string(ended) + ' ' +
            std::to_string(good) + ' ' + std::to_string(failed) + problem;
    }
};

std::string state_of(any_store const& store) {
    call context;
    auto const read = store.execute(get_entity{"once", "ann", "mail", {}}, context);
    auto const found = read ? read->entity.view().find("State") : std::nullopt;
    return found ? std::string{found->as_string()} : "";
}

/// `freed`: the key was claimed and freed before.
testing::interleaving_report walk(
    std::vector<cast> const& actors, testing::interleaving_limits limits, bool freed = false) {
    limits.most_states = entitable_test::rounds(20'000, 400'000);
    return testing::interleavings(
        [&](testing::stage& on) {
            row_table{on.store(), "once"}.create().value();
            row_table{on.store(), "calendar"}.create().value();
            if (freed) {
                auto const nothing = [](once_run const&) -> result<void> { return failure{error_code::cancelled, ""}; };
                once_options how;
                how.seed = 99;
                how.time = &on.time();
                CHECK_FALSE(once(on.store(), "mail", how).run("ann", nothing));
            }
            auto const all = std::make_shared<runs>();
            std::uint64_t seed = 0;
            for (cast const& each : actors) {
                ++seed;
                on.add(
                    each.name,
                    [&on, each, all, seed] {
                        auto const body = [each, all, seed](any_store way, entitable::clock& time) {
                            any_store const over = each.defect ? each.defect(way) : way;
                            once_options how;
                            how.max_attempts = 4;
                            how.time = &time;
                            how.seed = seed;
                            once const mails{over, "mail", how};
                            return mails.run("ann", [&](once_run const&) -> result<void> {
                                all->enter();
                                call context; // a run that takes a request: others act before and behind it
                                static_cast<void>(over.execute(get_entity{"calendar", "a", "b", {}}, context));
                                all->leave(each.how == mail::sent);
                                if (each.how == mail::sent) { return {}; }
                                return failure{error_code::out_of_range_input, "no such address"};
                            });
                        };
                        return testing::program<result<once_outcome>>{body, on.time().steady()};
                    },
                    [all](result<once_outcome> const& done) { all->add(done); });
            }
            on.remember([all] { return all->text(); });
            on.always([&on, all, count = static_cast<int>(actors.size())]() -> std::string {
                if (!all->problem.empty()) { return all->problem; }
                std::string const state = state_of(on.store());
                if (all->good > 0 && state != "done") { return "a success, and the key is not done"; }
                if (all->good > 0 && all->sent == 0) { return "a success without a mail"; }
                if (all->ended == count && all->good == 0 && all->failed == 0) { return "nobody ran the function"; }
                return "";
            });
        },
        limits);
}

void check(testing::interleaving_report const& seen) {
    CAPTURE(seen.schedule);
    CHECK(seen.problem == "");
    CHECK((seen.complete || entitable_test::rounds(0, 1) == 0)); // all of them in the long run
}

testing::interleaving_limits const quiet{.faults = 0, .late = 0};

bool claims(mutation const& one) {
    auto const state = one.entity.view().find("State");
    return state && state->as_string() == "claimed";
}

} // namespace

TEST_CASE("once: two programs run in every order") {
    check(walk({{"A"}, {"B"}}, quiet));
    check(walk({{"A"}, {"B"}}, quiet, true));
    check(walk({{"A"}, {"B"}}, {.faults = 1, .late = 0}));
    check(walk({{"A"}, {"B"}}, {.faults = 1, .late = 0}, true));
    check(walk({{"A"}, {"B"}}, {.faults = 0, .late = 1}));
    check(walk({{"A"}, {"B"}}, {.faults = 0, .late = 1}, true));
    check(walk({{"A"}, {"B"}, {"C"}}, quiet));
}

TEST_CASE("once: a program whose function has no effect runs together with other programs") {
    check(walk({{"A", mail::refused}, {"B"}}, quiet));
    check(walk({{"A", mail::refused}, {"B"}, {"C"}}, quiet));
    check(walk({{"A", mail::refused}, {"B"}}, {.faults = 1, .late = 0}));
    check(walk({{"A", mail::refused}, {"B"}}, {.faults = 0, .late = 1}));
}

TEST_CASE("once: walks detect each planted defect") {
    auto const any_version = with_writes([](std::string const&, mutation one) -> std::optional<mutation> {
        if (claims(one) && one.kind == mutation_kind::merge) { one.condition = any_etag; }
        return one;
    });
    CHECK(walk({{"A", mail::sent, any_version}, {"B", mail::sent, any_version}}, quiet, true).problem != "");

    auto const upserts = with_writes([](std::string const&, mutation one) -> std::optional<mutation> {
        if (one.kind == mutation_kind::insert) { one.kind = mutation_kind::insert_or_replace; }
        return one;
    });
    CHECK(walk({{"A", mail::sent, upserts}, {"B", mail::sent, upserts}}, quiet).problem != "");

    auto const unmarked = with_writes([](std::string const&, mutation one) -> std::optional<mutation> {
        auto const state = one.entity.view().find("State");
        return state && state->as_string() == "done" ? std::nullopt : std::optional{std::move(one)};
    });
    CHECK(walk({{"A", mail::sent, unmarked}}, quiet).problem == "a success, and the key is not done");

    auto const frees_any = with_writes([](std::string const&, mutation one) -> std::optional<mutation> {
        auto const state = one.entity.view().find("State");
        if (state && state->as_string() == "free") { one.condition = any_etag; }
        return one;
    });
    CHECK(walk({{"A", mail::refused, frees_any}, {"B"}, {"C"}}, {.faults = 0, .late = 1}).problem != "");
}
