// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/latency_histogram.hpp>

#include <bit>
#include <cmath>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr unsigned histogram_bits = 6; ///< 64 steps for each power of two

/// Values below 128 have a step each; from there on a step is a 64th of the power of two below.
[[nodiscard]] constexpr std::size_t step_of(std::uint64_t value) noexcept {
    auto const bits = static_cast<unsigned>(std::bit_width(value));
    unsigned const shift = bits > histogram_bits + 1 ? bits - histogram_bits - 1 : 0;
    return (std::size_t{shift} << histogram_bits) + static_cast<std::size_t>(value >> shift);
}
/// Returns the greatest value of a step.
[[nodiscard]] constexpr std::uint64_t top_of(std::size_t step) noexcept {
    std::size_t const shift = step < (std::size_t{2} << histogram_bits) ? 0 : (step >> histogram_bits) - 1;
    return ((std::uint64_t{step} - (std::uint64_t{shift} << histogram_bits) + 1) << shift) - 1;
}

} // namespace detail

ENTITABLE_DECL void latency_histogram::add(nanoseconds duration, std::uint64_t times) {
    std::int64_t const value = duration.count() < 0 ? 0 : duration.count();
    std::size_t const step = detail::step_of(static_cast<std::uint64_t>(value));
    if (step >= counts_.size()) { counts_.resize(step + 1); }
    counts_[step] += times;
    count_ += times;
    sum_ += static_cast<double>(value) * static_cast<double>(times);
    most_ = times > 0 && value > most_ ? value : most_;
}

ENTITABLE_DECL void latency_histogram::add_corrected(nanoseconds duration, nanoseconds interval) {
    add(duration);
    if (interval.count() <= 0) { return; }
    for (nanoseconds missing = duration - interval; missing >= interval; missing -= interval) { add(missing); }
}

ENTITABLE_DECL void latency_histogram::merge(latency_histogram const& other) {
    if (other.counts_.size() > counts_.size()) { counts_.resize(other.counts_.size()); }
    for (std::size_t step = 0; step < other.counts_.size(); ++step) { counts_[step] += other.counts_[step]; }
    count_ += other.count_;
    sum_ += other.sum_;
    most_ = other.most_ > most_ ? other.most_ : most_;
}

ENTITABLE_DECL std::chrono::nanoseconds latency_histogram::quantile(double part) const noexcept {
    double const wanted = std::ceil(part * static_cast<double>(count_));
    std::uint64_t seen = 0;
    for (std::size_t step = 0; step < counts_.size(); ++step) {
        seen += counts_[step];
        if (seen > 0 && static_cast<double>(seen) >= wanted) {
            auto const top = static_cast<std::int64_t>(detail::top_of(step));
            return nanoseconds{top < most_ ? top : most_};
        }
    }
    return nanoseconds{most_};
}

ENTITABLE_DECL double latency_histogram::mean_seconds() const noexcept {
    return count_ == 0 ? 0 : sum_ / static_cast<double>(count_) / 1e9;
}

ENTITABLE_END_NAMESPACE
