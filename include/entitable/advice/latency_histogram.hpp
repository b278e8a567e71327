// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `latency_histogram`: counts of durations, each exact to 1.6 %, in at most 30 KB for any number of durations.

#include <entitable/core/config.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// A log-linear histogram: 64 steps for each power of two of nanoseconds (G. Tene, "HdrHistogram").
///
/// Thread safety: one thread at a time; merge the histograms of several threads.
class latency_histogram {
public:
    using nanoseconds = std::chrono::nanoseconds; ///< the unit

    /// Counts a duration `times` times; a negative duration counts as 0.
    void add(nanoseconds duration, std::uint64_t times = 1);
    /// Counts a duration measured by a client that waits for each response although it intended to send a request every `interval`: also
    /// counts the waits of the requests that the client did not send ("coordinated omission").
    void add_corrected(nanoseconds duration, nanoseconds interval);
    /// Adds the counts of another histogram.
    void merge(latency_histogram const& other);

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; } ///< number of durations
    /// Returns the quantile `part` (0 to 1) with an error of at most 1.6 %; the quantile 1 is exact. 0 if the histogram is empty.
    [[nodiscard]] nanoseconds quantile(double part) const noexcept;
    [[nodiscard]] nanoseconds most() const noexcept { return nanoseconds{most_}; } ///< the longest duration, exactly
    [[nodiscard]] double mean_seconds() const noexcept;                            ///< the mean, exactly; 0 if empty

private:
    std::vector<std::uint64_t> counts_;
    std::uint64_t count_{};
    std::int64_t most_{};
    double sum_{}; ///< sum in nanoseconds
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/latency_histogram.ipp>
#endif
