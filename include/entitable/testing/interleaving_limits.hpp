// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Limits of `interleavings` and `steps`: the kinds and numbers of failures.

#include <entitable/core/error.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// Returns the error, of unknown effect, of a request that is lost or whose response is lost.
[[nodiscard]] inline error lost_request() {
    error gone{error_code::transport_failed, "lost"};
    gone.effect = effect::unknown;
    return gone;
}

/// The maximum number of failures in one schedule, and the length of schedules.
struct interleaving_limits {
    std::size_t faults{1}; ///< requests that fail with one of `errors`
    /// Errors returned instead of the store's response, without applying the request; if the effect of a write is unknown, the write is
    /// applied in some of the runs.
    std::vector<error> errors{lost_request()};
    std::size_t late{1};      ///< requests that arrive after the operation got the error of a lost request
    std::size_t twice{0};     ///< requests that get a response, and are delivered again later without notice
    std::size_t abandoned{0}; ///< operations that are abandoned at any step because their deadline passed
    std::size_t crashes{0};   ///< operations whose program ends, at any step, before or after a request
    std::size_t again{0};     ///< operations that are started again after a crash, or after a result that is an error
    std::chrono::nanoseconds takes{};                        ///< the response time
    std::chrono::nanoseconds life{std::chrono::minutes{16}}; ///< latest delivery of a late request after it was sent
    std::size_t most_requests{100};   ///< limit of requests for one operation, after which it is reported as not ending
    std::size_t most_states{100'000}; ///< the search stops at this number, and `interleaving_report::complete` is false
};

} // namespace testing
ENTITABLE_END_NAMESPACE
