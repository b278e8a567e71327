// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `interleavings`: every order in which the requests of some operations can reach a store, with lost responses, late or repeated requests,
/// and programs that end. It serves user-defined protocols as well as the library's protocols:
///
///     auto const found = testing::interleavings([](testing::stage& on) {
///         ... make tables; on.add("first", operation, [](auto outcome) { ... }); on.add("second", ...);
///         on.always([] { return std::string{}; });       // an error after each step; empty: none
///     });
///     CHECK(found.problem == "");                         // otherwise found.schedule is the shortest path
///
/// Equal states are examined once: the same rows, the same responses to each operation, the same requests in transit. ETags are considered
/// equal if they are in the same places. Operations must be deterministic: their only inputs are the stage's clock and the responses.
///
/// `steps`: runs one operation step by step, with everything that can happen at each step: the response of the store; each error of a list,
/// with the request applied or not if its effect is unknown; its deadline (`abandon`); the end of its program, before or after the request.
/// After a crash or an error it is started again. It serves user-defined operations as well as the library's operations:
///
///     auto const found = testing::steps([](testing::stage& on) {
///         ... make tables in on.store(), on.store(1) for another place ...
///         on.add("transfer", [&] { return transfer{"a", "b", 10}; }, [&](result<void> const& outcome) { ... });
///         on.always([&] { return std::string{}; });      // an error after each step; empty: none
///         on.at_end([&] { return std::string{}; });      // an error in a final state
///     });
///     CHECK(found.problem == "");                         // otherwise found.schedule is the shortest path
///
/// The rules of `operation` are checked as well: `next()` called twice returns the same step, an abandoned operation has ended, a
/// request goes to a place that exists and its response is accepted, and the operation ends. The stage's clock stands still until the
/// operation waits (`not_before`), and each response takes `interleaving_limits::takes`.

#include <entitable/core/random.hpp>
#include <entitable/core/request/part_hash.hpp>
#include <entitable/testing/stage.hpp>

#include <set>

ENTITABLE_BEGIN_NAMESPACE

namespace testing {

/// The result of a search.
struct interleaving_report {
    std::string problem;               ///< description of the problem; empty if there is no problem
    std::vector<std::string> schedule; ///< moves that lead to the problem: as few as possible in `interleavings`
    std::size_t states{};              ///< number of distinct states
    std::size_t ends{};                ///< number of final states
    bool complete{true};               ///< whether all states were examined
};

/// Searches all schedules, breadth first. Used by `interleavings`.
class interleaving_search {
public:
    /// Searches all schedules of the operations that `begin` adds to the stage.
    [[nodiscard]] static interleaving_report run(
        std::function<void(stage&)> const& begin, interleaving_limits const& limits) {
        interleaving_report told;
        std::set<std::pair<std::uint64_t, std::uint64_t>> seen; // hashes, since texts would take gigabytes
        std::deque<std::vector<stage::move>> open(1);
        while (!open.empty()) {
            std::vector<stage::move> const so_far = std::move(open.front());
            open.pop_front();
            auto here = replay(begin, limits, so_far);
            auto const moves = here->moves();
            if (moves.empty()) {
                ++told.ends;
                if (told.problem = here->wrong(true); !told.problem.empty()) {
                    told.schedule = words(begin, limits, so_far);
                    return told;
                }
            }
            for (stage::move const& next : moves) {
                // The run that was created to list the moves makes the first move.
                auto const there = here ? std::exchange(here, nullptr) : replay(begin, limits, so_far);
                (void)there->take(next);
                if (!seen.insert(number_of(there->state())).second) { continue; }
                ++told.states;
                std::vector<stage::move> longer = so_far;
                longer.push_back(next);
                if (told.problem = there->wrong(false); !told.problem.empty()) {
                    told.schedule = words(begin, limits, longer);
                    return told;
                }
                if (told.states >= limits.most_states) {
                    told.complete = false;
                    return told;
                }
                open.push_back(std::move(longer));
            }
        }
        return told;
    }

    /// Runs one schedule, drawn from a seed. Used by `random_interleaving`.
    [[nodiscard]] static interleaving_report wander(
        std::function<void(stage&)> const& begin, interleaving_limits const& limits, std::uint64_t seed) {
        interleaving_report told;
        random_source random{seed};
        auto const on = replay(begin, limits, {});
        while (told.states < limits.most_states) {
            auto const moves = on->moves();
            if (moves.empty()) {
                ++told.ends;
                told.problem = on->wrong(true);
                return told;
            }
            told.schedule.push_back(on->take(moves[random.bits() % moves.size()]));
            ++told.states;
            if (told.problem = on->wrong(false); !told.problem.empty()) { return told; }
        }
        told.complete = false;
        return told;
    }

private:
    /// Returns a 128-bit hash, from two independent functions.
    [[nodiscard]] static std::pair<std::uint64_t, std::uint64_t> number_of(std::string const& state) {
        entitable::detail::part_hash own{0};
        own.add(std::string_view{state});
        return {own.value(), std::hash<std::string>{}(state)};
    }
    [[nodiscard]] static std::unique_ptr<stage> replay(std::function<void(stage&)> const& begin,
        interleaving_limits const& limits, std::vector<stage::move> const& moves) {
        auto on = std::make_unique<stage>(limits);
        begin(*on);
        for (stage::move const& each : moves) { (void)on->take(each); }
        return on;
    }
    [[nodiscard]] static std::vector<std::string> words(std::function<void(stage&)> const& begin,
        interleaving_limits const& limits, std::vector<stage::move> const& moves) {
        auto const on = replay(begin, limits, {});
        std::vector<std::string> said;
        for (stage::move const& each : moves) { said.push_back(on->take(each)); }
        return said;
    }
};

/// Runs all interleavings of the operations that `begin` adds to the stage, until a problem is found; `begin` is called for each schedule.
/// Deterministic. A few thousand states take seconds, so use two or three operations with a few requests each.
[[nodiscard]] inline interleaving_report interleavings(
    std::function<void(stage&)> const& begin, interleaving_limits const& limits = {}) {
    return interleaving_search::run(begin, limits);
}

/// Runs one schedule that is drawn from a seed, to its end or for `most_states` steps; the same seed gives the same schedule. Suits
/// operations with too many schedules to examine all of them. Takes milliseconds.
[[nodiscard]] inline interleaving_report random_interleaving(
    std::function<void(stage&)> const& begin, interleaving_limits const& limits, std::uint64_t seed) {
    return interleaving_search::wander(begin, limits, seed);
}

} // namespace testing

namespace testing {

/// Returns the usual errors of any request: ServerBusy, not applied; and TransportFailed, of unknown effect.
[[nodiscard]] inline std::vector<error> usual_errors() {
    return {error{error_code::server_busy, "busy"}, lost_request()};
}

/// The limits of `steps`: one of the usual errors, one abandonment, one crash and one restart in each run.
[[nodiscard]] inline interleaving_limits each_step() {
    return {.errors = usual_errors(), .late = 0, .abandoned = 1, .crashes = 1, .again = 1};
}

/// Runs everything that can happen at each step of the operation that `begin` adds to the stage; `begin` is called for each run.
/// Deterministic. Several operations on the stage are interleaved as well.
[[nodiscard]] inline interleaving_report steps(
    std::function<void(stage&)> const& begin, interleaving_limits const& limits = each_step()) {
    return interleavings(begin, limits);
}

} // namespace testing

ENTITABLE_END_NAMESPACE
