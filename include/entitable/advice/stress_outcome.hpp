// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `stress_outcome`: what a stress test of a partition found, step by step, and its verdict.

#include <entitable/advice/latency_histogram.hpp>
#include <entitable/core/error.hpp>

#include <map>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The verdict of a stress test on a partition key.
enum class stress_verdict : std::uint8_t {
    fits,        ///< the partition carries the peak, which is within the target of a partition
    hot_at_once, ///< it does not carry even the first step
    too_coarse, ///< it does not carry the peak in time, or the peak is over the target: finer partition keys are needed
};

/// "too_coarse".
[[nodiscard]] std::string_view to_string(stress_verdict verdict) noexcept;

/// One step of the ramp.
struct stress_step {
    double wanted{};          ///< entities a second that were planned
    double served{};          ///< entities a second of calls that succeeded
    double seconds{};         ///< how long it took
    double length{};          ///< seconds that were planned
    std::uint64_t sent{};     ///< calls
    std::uint64_t unsent{};   ///< calls that were due, and for which no worker was free before the step was over
    std::uint64_t attempts{}; ///< requests that were sent for them, those of retries included
    std::map<error_code, std::uint64_t> errors; ///< calls that failed, by code
    latency_histogram latencies; ///< from the moment a call was due to its answer, of failed calls as well

    /// Calls that failed.
    [[nodiscard]] std::uint64_t failed() const noexcept;
    /// Whether fewer than 95 % of the calls that were due succeeded, more than 1 % failed, or the step took more than a twentieth longer than
    /// planned. Compared with the calls that came, of which there are more or fewer than planned by chance.
    [[nodiscard]] bool saturated() const noexcept;
};

/// The outcome of a stress test.
struct stress_outcome {
    stress_verdict verdict{};       ///< on the partition key
    double peak{};                  ///< entities a second that the partition has to carry
    double target{};                ///< entities a second that the service promises of one partition
    double carried{};               ///< entities a second of the last step that was not saturated; 0: of none
    double latency{};               ///< seconds, the limit for 99 of 100 calls up to the peak; 0: none
    std::vector<stress_step> steps; ///< in the order of the ramp

    /// As text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/stress_outcome.ipp>
#endif
