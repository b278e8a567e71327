// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `latency_histogram`: counts of durations, each kept to 1.6 % of its length, in a few kilobytes whatever their number.

#include <entitable/core/config.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// A log-linear histogram: 64 steps for each power of two of nanoseconds (G. Tene, "HdrHistogram"). One thread at a time; those of
/// several threads are merged.
class latency_histogram {
public:
    using nanoseconds = std::chrono::nanoseconds; ///< what it counts

    /// Counts a duration `times` times; a negative one as 0.
    void add(nanoseconds duration, std::uint64_t times = 1);
    /// Counts a duration that was measured by a client which sends its next request when the last one is answered, although it meant to
    /// send one in each `interval`: what the requests waited that it did not send is counted, too ("coordinated omission").
    void add_corrected(nanoseconds duration, nanoseconds interval);
    /// Counts all that the other one has.
    void merge(latency_histogram const& other);

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; } ///< durations
    /// The shortest duration that is not shorter than `part` of all (0 to 1), to 1.6 %; the greatest one, at 1, is exact. 0 when there
    /// is none.
    [[nodiscard]] nanoseconds quantile(double part) const noexcept;
    [[nodiscard]] nanoseconds most() const noexcept { return nanoseconds{most_}; } ///< the longest, exactly
    [[nodiscard]] double mean_seconds() const noexcept;                            ///< exactly; 0 when there is none

private:
    std::vector<std::uint64_t> counts_;
    std::uint64_t count_{};
    std::int64_t most_{};
    double sum_{}; ///< nanoseconds
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/latency_histogram.ipp>
#endif
