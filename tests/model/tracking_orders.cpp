// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Two units of work over one table in every order in which their requests can reach the store, with lost and late requests: the
// final state is that of one running after the other. And the same with defects, each of which is detected.

#include "support/catch.hpp"
#include "support/defects.hpp"
#include "support/long.hpp"
#include <entitable/entitable.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>
#include <entitable/unit_of_work.hpp>

#include <functional>

using namespace entitable;
using entitable_test::through_defect;
using entitable_test::with_writes;

namespace {

/// Sums that many writers add to: no addition may be lost or applied twice.
struct tally_row {
    std::string team;
    std::int32_t id{};
    std::int32_t wins{};
    std::int32_t losses{};
    std::optional<std::int32_t> rank;
};
ENTITABLE(tally_row, partition_key(team), row_key(id), properties(wins, losses, rank))

using work_on_tallies = unit_of_work<tally_row>;

struct how {
    save_mode mode{save_mode::each};
    bool operation_rows{};
    through_defect defect{};
    merge_option merge{merge_option::append_only};
};

/// How often a sum was raised, certainly and possibly.
struct tally {
    std::int32_t sure{};
    std::int32_t perhaps{};
    std::int32_t added{};
    std::int32_t removed{};
};

/// Saves until everything is saved, and resolves each conflict by adding again to the stored value, as users do. A conflict that
/// may be with its own write is not resolved: the outcome is unknown.
template <class Again>
result<tally> save_all(work_on_tallies& work, save_mode mode, Again const& again) {
    tally told;
    for (int attempt = 0; attempt < 4; ++attempt) {
        ENTITABLE_TRY(auto const saved, work.save(mode));
        for (auto const& each : saved.changes) { told.sure += each.outcome == save_outcome::saved ? 1 : 0; }
        if (saved.good()) { return told; }
        for (auto const& each : saved.failed) {
            if (auto const met = work.conflict_of(each.entity()).value()) {
                if (met->may_be_mine) {
                    ++told.perhaps;
                    work.detach(each.entity());
                } else if (!again(work, each.entity(), *met)) {
                    work.detach(each.entity());
                }
            }
        }
    }
    told.perhaps += static_cast<std::int32_t>(work.pending().size());
    return told;
}

/// Raises the wins of both rows by one.
result<tally> raise(work_on_tallies& work, table<tally_row> const& tallies, save_mode mode) {
    ENTITABLE_TRY(auto const rows, work.track(tallies.where(fields<tally_row>::team == "red")));
    for (tally_row& each : rows) { ++each.wins; }
    return save_all(work, mode, [](work_on_tallies& on, tally_row& mine, conflict<tally_row> const& met) {
        if (!met.theirs) { return false; }
        auto value = *met.theirs;
        ++value.wins;
        on.resolve(mine, value);
        return true;
    });
}

struct actor {
    std::string name;
    std::function<result<tally>(work_on_tallies&, table<tally_row> const&, save_mode)> does;
    how with{};
};

testing::interleaving_report walk(std::vector<actor> const& actors, testing::interleaving_limits limits,
    std::int32_t rows, std::function<std::string(table<tally_row> const&, std::vector<tally> const&)> const& end,
    std::size_t most = 0) {
    limits.most_states = most != 0 ? most : entitable_test::rounds(250, 200'000, 4'000);
    return testing::interleavings(
        [&](testing::stage& on) {
            table<tally_row> const tallies{on.store(), "tallies"};
            tallies.create().value();
            for (std::int32_t id = 1; id <= rows; ++id) { tallies.insert({"red", id, 0, 0, 1}).value(); }
            auto& told = on.keep<std::vector<tally>>(actors.size());
            auto& done = on.keep<std::string>();
            for (std::size_t at = 0; at < actors.size(); ++at) {
                actor const& each = actors[at];
                on.add(
                    each.name,
                    [&on, each, at] {
                        auto const runs = [each, at](any_store way, entitable::clock& time) {
                            if (each.with.operation_rows) {
                                retrying_options rows_kept;
                                rows_kept.operation_rows = true;
                                rows_kept.policy.max_attempts = 1;
                                rows_kept.time = &time;
                                rows_kept.seed = at + 1;
                                way = any_store{retrying{way, rows_kept}};
                            }
                            if (each.with.defect) { way = each.with.defect(way); }
                            table<tally_row> const through{way, "tallies"};
                            work_on_tallies work{through, {.merge = each.with.merge}};
                            return each.does(work, through, each.with.mode);
                        };
                        return testing::program<result<tally>>{runs, on.time().steady()};
                    },
                    [&told, &done, at](result<tally> const& made) {
                        if (made) {
                            told[at] = *made;
                            done += std::to_string(at) + ' ' + std::to_string(made->sure) + ' ' +
                                std::to_string(made->perhaps) + ';';
                        }
                    });
            }
            on.remember([&done] { return done; });
            on.at_end([&on, &told, end] { return end(table<tally_row>{on.store(), "tallies"}, told); });
        },
        limits);
}

/// Each addition that was reported saved is stored once, and otherwise only those with unknown outcome.
std::string keeps_sums(table<tally_row> const& tallies, std::vector<tally> const& told) {
    std::int32_t sum = 0;
    tallies.where(fields<tally_row>::team == "red").for_each([&](tally_row const& each) { sum += each.wins; }).value();
    std::int32_t least = 0;
    std::int32_t most = 0;
    for (tally const& each : told) {
        least += each.sure;
        most += each.sure + each.perhaps;
    }
    return sum < least ? "an addition is lost"
        : sum > most   ? "an addition was made twice, or one that was refused"
                       : "";
}

void check(testing::interleaving_report const& told) {
    CAPTURE(told.schedule);
    CHECK(told.problem == "");
    CHECK((told.complete || entitable_test::rounds(0, 1) == 0)); // all of them in the long run
}

testing::interleaving_limits const quiet{.faults = 0, .late = 0};
testing::interleaving_limits const losses{.faults = 2, .late = 0};
testing::interleaving_limits const late{.faults = 1, .late = 1};

} // namespace

TEST_CASE("units of work: two units can add to one row in any order") {
    check(walk({{"one", raise}, {"other", raise}}, quiet, 1, keeps_sums));
    check(walk({{"one", raise, {.mode = save_mode::batch}}, {"other", raise}}, quiet, 2, keeps_sums));
}

TEST_CASE("units of work: two units can add to one row despite lost answers") {
    check(walk({{"one", raise}, {"other", raise}}, losses, 1, keeps_sums));
    check(walk({{"one", raise, {.mode = save_mode::batch}}, {"other", raise}}, losses, 2, keeps_sums));
}

TEST_CASE("units of work: two units with operation rows tolerate late requests") {
    actor one{"one", raise, {.operation_rows = true}};
    actor other{"other", raise, {.operation_rows = true}};
    check(walk({one}, late, 1, keeps_sums));
    check(walk({one, other}, late, 1, keeps_sums));
    one.with.mode = save_mode::batch;
    check(walk({one}, late, 2, keeps_sums));
}

namespace {

/// Removes the first row in any state.
result<tally> take_away(work_on_tallies& work, table<tally_row> const&, save_mode mode) {
    ENTITABLE_TRY(tally_row* const one, work.find("red", 1));
    if (one == nullptr) { return tally{}; }
    work.remove(*one);
    ENTITABLE_TRY(tally told, save_all(work, mode, [](work_on_tallies& on, tally_row& mine, auto const&) {
        on.resolve(mine, keep::mine);
        return true;
    }));
    told.removed = std::exchange(told.sure, 0);
    told.perhaps *= 100;
    return told;
}

/// Replaces the first row by another.
result<tally> put_another(work_on_tallies& work, table<tally_row> const&, save_mode mode) {
    ENTITABLE_TRY(tally_row* const one, work.find("red", 1));
    if (one != nullptr) { work.remove(*one); }
    work.add({"red", 1, 100, 0, {}});
    ENTITABLE_TRY(tally told, save_all(work, mode, [](work_on_tallies& on, tally_row& mine, auto const&) {
        on.resolve(mine, {"red", 1, 100, 0, {}});
        return true;
    }));
    told.added = std::exchange(told.sure, 0);
    return told;
}

} // namespace

TEST_CASE("units of work: a removed row is not restored by a change") {
    auto const end = [](table<tally_row> const& tallies, std::vector<tally> const& told) -> std::string {
        auto const one = tallies.find("red", 1).value();
        return one && told[1].removed > 0                       ? "a row that was removed is there"
            : one && one->wins > told[0].sure + told[0].perhaps ? "an addition was made that was not told"
                                                                : "";
    };
    check(walk({{"raise", raise}, {"remove", take_away}}, quiet, 1, end));
    check(walk({{"raise", raise}, {"remove", take_away}}, {.faults = 1, .late = 0}, 1, end));
}

TEST_CASE("units of work: a replacement is applied before or after a change") {
    auto const end = [](table<tally_row> const& tallies, std::vector<tally> const& told) -> std::string {
        auto const one = tallies.find("red", 1).value();
        std::int32_t const wins = one ? one->wins : -1;
        std::int32_t const most = told[0].sure + told[0].perhaps;
        bool const last = wins >= 100 && wins <= 100 + most; // the replacement first, or last
        bool const alone = told[1].added == 0 && wins >= told[0].sure && wins <= most;
        return last || alone ? "" : "not what one of them leaves behind the other: " + std::to_string(wins);
    };
    check(walk({{"raise", raise}, {"replace", put_another}}, quiet, 1, end));
    check(walk({{"raise", raise}, {"replace", put_another}}, {.faults = 1, .late = 0}, 1, end));
}

namespace {

/// Raises by two, and reads again before it saves, which updates the ETag and keeps the values.
result<tally> raise_silently(work_on_tallies& work, table<tally_row> const&, save_mode mode) {
    ENTITABLE_TRY(tally_row* const one, work.find("red", 1));
    one->wins += 2;
    ENTITABLE_TRY(tally_row* const again, work.find("red", 1));
    (void)again;
    ENTITABLE_TRY(
        tally told, save_all(work, mode, [](work_on_tallies& on, tally_row& mine, conflict<tally_row> const& met) {
            auto value = *met.theirs;
            value.wins += 2;
            on.resolve(mine, value);
            return true;
        }));
    told.sure *= 2;
    return told;
}

std::string problem_of(std::vector<actor> const& actors, testing::interleaving_limits limits) {
    auto const told = walk(actors, limits, 1, keeps_sums, 4'000);
    CAPTURE(told.schedule);
    return told.problem;
}

} // namespace

TEST_CASE("units of work: each rule of the protocol is necessary") {
    // Writes any version.
    auto const unconditional = with_writes([](std::string const&, mutation one) -> std::optional<mutation> {
        one.condition = any_etag;
        return one;
    });
    CHECK(problem_of({{"one", raise, {.defect = unconditional}}, {"other", raise}}, quiet) == "an addition is lost");
    // Treats a lost change as not applied, without finding out.
    auto const never_settles = with_writes([](std::string const&, mutation one) -> std::optional<mutation> {
        bool const settles = one.entity.row_key().starts_with("~!op!");
        return settles ? std::nullopt : std::optional{std::move(one)};
    });
    actor const guesses{"one", raise, {.operation_rows = true, .defect = never_settles}};
    CHECK(problem_of({guesses}, {.faults = 1, .late = 0}) == "an addition was made twice, or one that was refused");
    // The behaviour of the historic client.
    actor silent{"one", raise_silently, {.merge = merge_option::preserve_changes_silently}};
    CHECK(problem_of({silent, {"other", raise}}, quiet) == "an addition is lost");
    silent.with.merge = merge_option::preserve_changes;
    CHECK(problem_of({silent, {"other", raise}}, quiet) == "");
}
