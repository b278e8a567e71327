// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `steps`: one operation, step by step, and at each step everything that can happen: the answer of the store; each error of a list, with the
/// request applied or not where its effect is unknown; the end of its time (`abandon`); the end of its program, before or after the
/// request. After a crash or an error it is begun again. For your own operations as for the library's:
///
///     auto const told = testing::steps([](testing::stage& on) {
///         ... make tables in on.store(), on.store(1) for another place ...
///         on.add("transfer", [&] { return transfer{"a", "b", 10}; }, [&](result<void> const& outcome) { ... });
///         on.always([&] { return std::string{}; });      // what is wrong, after each step; empty: nothing
///         on.at_end([&] { return std::string{}; });      // what is wrong where nothing can happen any more
///     });
///     CHECK(told.problem == "");                         // else told.schedule has the shortest way there
///
/// The rules of `operation` are checked on the way: `next()` called twice returns the same, an abandoned operation has ended, a request goes to
/// a place that exists and its answer is accepted, and the operation ends. The stage's clock stands still until the operation
/// waits (`not_before`), and each answer takes `interleaving_limits::takes`.

#include <entitable/testing/interleavings.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// The errors of any request: ServerBusy, not applied; and TransportFailed, of effect unknown.
[[nodiscard]] inline std::vector<error> usual_errors() {
    return {error{error_code::server_busy, "busy"}, lost_request()};
}

/// The limits of `steps`: one of the usual errors, one abandonment, one crash and one new beginning in each walk.
[[nodiscard]] inline interleaving_limits each_step() {
    return {.errors = usual_errors(), .late = 0, .abandoned = 1, .crashes = 1, .again = 1};
}

/// Walks through everything that can happen at the steps of the operation that `begin` puts on the stage; `begin` is called for each walk.
/// Deterministic. Several operations on the stage are interleaved as well.
[[nodiscard]] inline interleaving_report steps(
    std::function<void(stage&)> const& begin, interleaving_limits const& limits = each_step()) {
    return interleavings(begin, limits);
}

} // namespace testing
ENTITABLE_END_NAMESPACE
