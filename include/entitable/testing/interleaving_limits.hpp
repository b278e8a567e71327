// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What `interleavings` and `steps` let go wrong.

#include <entitable/core/error.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// What an operation is told of a request that got lost, or whose answer did.
[[nodiscard]] inline error lost_request() {
    error gone{error_code::transport_failed, "lost"};
    gone.effect = effect::unknown;
    return gone;
}

/// What may go wrong in one schedule, and how far is looked.
struct interleaving_limits {
    std::size_t faults{1}; ///< requests that are answered with one of `errors`
    /// Answers in place of the store's, with nothing applied; of a write with the effect unknown, with it applied as well.
    std::vector<error> errors{lost_request()};
    std::size_t late{1};  ///< requests that are delivered after the operation was told that they are lost
    std::size_t twice{0}; ///< requests that are answered, and delivered a second time later: nobody knows of the copy
    std::size_t abandoned{0}; ///< operations that are abandoned, at any step, because their time is over
    std::size_t crashes{0};   ///< operations whose program ends, at any step, before a request or behind it
    std::size_t again{0};     ///< operations that are made anew after a crash, or after an outcome that is an error
    std::chrono::nanoseconds takes{}; ///< how long an answer takes
    std::chrono::nanoseconds life{
        std::chrono::minutes{16}};    ///< how long after it was sent a late request can be delivered
    std::size_t most_requests{100};   ///< of one operation: with more of them it does not end, which is a problem
    std::size_t most_states{100'000}; ///< then `interleaving_report::complete` is false
};

} // namespace testing
ENTITABLE_END_NAMESPACE
