// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
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

#include <entitable/testing/interleavings.hpp>

ENTITABLE_BEGIN_NAMESPACE
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
