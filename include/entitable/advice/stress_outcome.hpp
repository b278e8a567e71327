// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `stress_outcome`: the results of a stress test of a partition, step by step, and its verdict.

#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/latency_histogram.hpp>
#include <entitable/core/error.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The verdict of a stress test on a partition key.
enum class stress_verdict : std::uint8_t {
    fits,        ///< the partition handles the peak, which is within the target of a partition
    hot_at_once, ///< the partition does not even handle the first step
    too_coarse,  ///< the partition misses the peak, or the peak exceeds the target: use finer partition keys
};

/// Returns the name, such as "too_coarse".
[[nodiscard]] std::string_view to_string(stress_verdict verdict) noexcept;

/// The calls of one kind in a step: reads, writes, queries, batches, as they were named.
struct stress_kind {
    std::string name;                           ///< name of the calls
    std::uint64_t sent{};                       ///< calls that were made
    double served{};                            ///< entities a second of calls that succeeded
    std::map<error_code, std::uint64_t> errors; ///< calls that failed, by code
    latency_histogram latencies; ///< time from when a call was due to its response, including failed calls

    /// Returns the number of calls that failed.
    [[nodiscard]] std::uint64_t failed() const noexcept;
    /// Returns the number of failed calls that the service throttled (`ServerBusy`, from 503 and 429).
    [[nodiscard]] std::uint64_t throttled() const noexcept;
};

/// One step of the ramp.
struct stress_step {
    double wanted{};                            ///< planned entities a second
    double served{};                            ///< entities a second of calls that succeeded
    double seconds{};                           ///< actual duration in seconds
    double length{};                            ///< planned duration in seconds
    std::uint64_t sent{};                       ///< calls that were made
    std::uint64_t unsent{};                     ///< calls that were due, but found no free worker before the step ended
    std::uint64_t attempts{};                   ///< requests of these calls, including retries
    std::map<error_code, std::uint64_t> errors; ///< calls that failed, by code
    latency_histogram latencies;    ///< time from when a call was due to its response, including failed calls
    std::vector<stress_kind> kinds; ///< the same by kind of call, in the order in which the kinds were added

    /// Returns the number of calls that failed.
    [[nodiscard]] std::uint64_t failed() const noexcept;
    /// Returns the calls of a kind; null if no kind has this name.
    [[nodiscard]] stress_kind const* find(std::string_view name) const noexcept;
    /// Whether fewer than 95 % of the calls that were due succeeded, more than 1 % failed, or the step took over 5 % longer than
    /// planned. Compared with the calls that actually came due, whose number varies randomly.
    [[nodiscard]] bool saturated() const noexcept;
};

/// The result of a stress test.
struct stress_outcome {
    stress_verdict verdict{};       ///< verdict on the partition key
    double peak{};                  ///< entities a second that the partition must handle
    double target{};                ///< entities a second that the service promises for one partition
    double carried{};               ///< entities a second of the last unsaturated step; 0: none
    double latency{};               ///< limit in seconds for 99 of 100 calls up to the peak; 0: none
    std::vector<stress_step> steps; ///< steps in the order of the ramp

    /// Returns the calls of a kind in all steps; empty without such calls. `served` is the mean over the time of all steps.
    [[nodiscard]] stress_kind kind(std::string_view name) const;

    /// Returns the results as text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

namespace detail {

/// Returns one line for each kind of call, over all steps.
[[nodiscard]] text_table stress_kind_rows(stress_outcome const& of);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/stress_outcome.ipp>
#endif
