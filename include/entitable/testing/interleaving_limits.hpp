// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Limits of `interleavings` and `steps`: what goes wrong, and how often.

#include <entitable/core/error.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// The error of a request that is lost, or whose answer is: of effect unknown.
[[nodiscard]] inline error lost_request() {
    error gone{error_code::transport_failed, "lost"};
    gone.effect = effect::unknown;
    return gone;
}

/// What goes wrong in one schedule at most, and how long schedules get.
struct interleaving_limits {
    std::size_t faults{1}; ///< requests that are answered with one of `errors`
    /// Answers in place of the store's, with nothing applied; of a write with the effect unknown, with it applied as well.
    std::vector<error> errors{lost_request()};
    std::size_t late{1};      ///< requests that arrive after the operation was told that they are lost
    std::size_t twice{0};     ///< requests that are answered, and delivered a second time later, unseen
    std::size_t abandoned{0}; ///< operations that are abandoned, at any step, because their time is over
    std::size_t crashes{0};   ///< operations whose program ends, at any step, before a request or behind it
    std::size_t again{0};     ///< operations that are begun again after a crash, or after an outcome that is an error
    std::chrono::nanoseconds takes{}; ///< how long an answer takes
    std::chrono::nanoseconds life{
        std::chrono::minutes{16}};    ///< how long after it was sent a late request can be delivered
    std::size_t most_requests{100};   ///< of one operation: more of them are reported as an operation that does not end
    std::size_t most_states{100'000}; ///< the search stops there, and `interleaving_report::complete` is false
};

} // namespace testing
ENTITABLE_END_NAMESPACE
