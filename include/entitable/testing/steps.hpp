// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `steps`: one operation, step by step, and at each step all that can happen there: the answer of the store; each error of a list, with the
/// request applied or not where its effect is unknown; the end of its time (`abandon`); the end of its program, before the
/// request or behind it. After a crash or an error it is begun again. For operations of your own as for the library's:
///
///     auto const told = testing::steps([](testing::stage& on) {
///         ... make tables in on.store(), on.store(1) for another place ...
///         on.add("transfer", [&] { return transfer{"a", "b", 10}; }, [&](result<void> const& outcome) { ... });
///         on.always([&] { return std::string{}; });      // what is wrong, after each step; empty: nothing
///         on.at_end([&] { return std::string{}; });      // what is wrong where nothing can happen any more
///     });
///     CHECK(told.problem == "");                         // else told.schedule has the shortest way there
///
/// The rules of `operation` are checked on the way: what is asked twice says the same, an abandoned operation is at its end, a request goes to
/// a place that is there and its answer is taken, and there is an end. Time is an argument: the stage's clock stands until the operation
/// waits (`not_before`), and each answer takes `interleaving_limits::takes`.

#include <entitable/testing/interleavings.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// What a service answers to any request: ServerBusy, nothing applied; and TransportFailed, of which nobody knows.
[[nodiscard]] inline std::vector<error> usual_errors() {
    return {error{error_code::server_busy, "busy"}, lost_request()};
}

/// What can happen at the steps of an operation: one of the usual errors, one end before its time, one more beginning.
[[nodiscard]] inline interleaving_limits each_step() {
    return {.errors = usual_errors(), .late = 0, .abandoned = 1, .crashes = 1, .again = 1};
}

/// Walks through all that can happen at the steps of the operation that `begin` puts on the stage; it is called once for each walk.
/// Deterministic. With a second operation on the stage they are interleaved as well.
[[nodiscard]] inline interleaving_report steps(
    std::function<void(stage&)> const& begin, interleaving_limits const& limits = each_step()) {
    return interleavings(begin, limits);
}

} // namespace testing
ENTITABLE_END_NAMESPACE
