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

/// What a stress test says of a partition key.
enum class stress_verdict : std::uint8_t {
    fits,        ///< the partition carries the peak, which is within the target of a partition
    hot_at_once, ///< it does not carry the first step either
    too_coarse,  ///< it does not carry the peak, or the peak is over the target: finer partition keys are needed
};

/// "too_coarse".
[[nodiscard]] std::string_view to_string(stress_verdict verdict) noexcept;

/// One step of the ramp.
struct stress_step {
    double wanted{};          ///< entities a second that were to come
    double served{};          ///< entities a second that were answered well
    double seconds{};         ///< how long it took
    double length{};          ///< seconds that it was to take
    std::uint64_t sent{};     ///< calls
    std::uint64_t unsent{};   ///< calls whose time had come, but the step was over before there was a worker
    std::uint64_t attempts{}; ///< requests that were sent for them, those of retries included
    std::map<error_code, std::uint64_t> errors; ///< calls that failed, by code
    latency_histogram latencies;                ///< from the moment a call was due, to its answer; failed ones too

    /// Calls that failed.
    [[nodiscard]] std::uint64_t failed() const noexcept;
    /// Less than 95 % of the calls whose time had come were answered well, or in time, or more than 1 % failed. It is compared with
    /// what came: by chance that is not what was wanted.
    [[nodiscard]] bool saturated() const noexcept;
};

/// What came of it.
struct stress_outcome {
    stress_verdict verdict{};       ///< what it says of the partition key
    double peak{};                  ///< entities a second that the partition has to carry
    double target{};                ///< entities a second that the service promises of one partition
    double carried{};               ///< entities a second of the last step that was not saturated; 0: of none
    double latency{};               ///< seconds that 99 of 100 calls have to keep at the peak; 0: none was asked for
    std::vector<stress_step> steps; ///< in the order of the ramp

    /// For a terminal.
    [[nodiscard]] std::string to_string() const;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/stress_outcome.ipp>
#endif
