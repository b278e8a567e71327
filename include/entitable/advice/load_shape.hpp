// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `load_shape`: the distribution of requests over time and partitions: the input of a simulation.

#include <entitable/advice/sample.hpp>
#include <entitable/advice/workload.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Entities a second over time.
struct arrival_pattern {
    /// The form of the curve.
    enum class form : std::uint8_t {
        constant, ///< stays at `rate`
        ramp,     ///< the rate grows from `rate` to `peak` in `seconds`, then stays at `peak`
        daily,    ///< the rate follows a wave of 24 hours around `rate` up to `peak`, which is reached after 6 hours
        burst,    ///< the rate stays at `rate`, but is at `peak` from `begin` for `seconds`
    };
    form is{form::constant}; ///< form of the curve
    double rate{};           ///< entities a second
    double peak{};           ///< entities a second
    double begin{};          ///< second at which the burst begins
    double seconds{};        ///< duration in seconds

    /// A constant rate.
    [[nodiscard]] static constexpr arrival_pattern constant(double rate) noexcept {
        return {form::constant, rate, rate, 0, 0};
    }
    /// A ramp from one rate to another.
    [[nodiscard]] static constexpr arrival_pattern ramp(double from, double to, double seconds) noexcept {
        return {form::ramp, from, to, 0, seconds};
    }
    /// A daily wave.
    [[nodiscard]] static constexpr arrival_pattern daily(double mean, double peak) noexcept {
        return {form::daily, mean, peak, 0, 0};
    }
    /// A constant rate with one burst.
    [[nodiscard]] static constexpr arrival_pattern burst(
        double rate, double peak, double begin, double seconds) noexcept {
        return {form::burst, rate, peak, begin, seconds};
    }
    /// Returns the rate at a second from the start.
    [[nodiscard]] double at(double second) const noexcept;
};

/// Requests over time and partitions. A request is one entity.
struct load_shape {
    arrival_pattern arrivals;              ///< arrivals of all requests
    std::vector<double> shares;            ///< share of each partition, in the order of keys; scaled to a sum of 1
    std::vector<std::uint32_t> partitions; ///< the number of partitions that each share represents; empty: one each
    std::vector<std::string> keys;         ///< readable text; empty: numbers
    double appended{};                     ///< part of all requests for the newest partition, 0 to 1
    bool prepends{}; ///< set if the newest partition is at the beginning of the table, not at its end

    /// `count` partitions with equal shares.
    [[nodiscard]] static load_shape even(std::size_t count, arrival_pattern arrivals);
    /// `count` partitions; the share of the kth partition is proportional to k^-exponent.
    [[nodiscard]] static load_shape zipf(std::size_t count, double exponent, arrival_pattern arrivals);
    /// All requests go to the newest partition, at the end of the table.
    [[nodiscard]] static load_shape append(arrival_pattern arrivals);
    /// All requests go to the newest partition, at the beginning of the table.
    [[nodiscard]] static load_shape prepend(arrival_pattern arrivals);
    /// The load of a workload on keys, for each partition (`key_score`), and writes at the end of the table if keys increase over time. At
    /// most 500 shares; neighbouring partitions with little load form one share.
    [[nodiscard]] static load_shape of(
        table_sample const& sample, workload const& load, key_declaration const& declared);
    /// The load of a workload on the current keys.
    [[nodiscard]] static load_shape of(table_sample const& sample, workload const& load) {
        return of(sample, load, sample.declared());
    }

    /// Errors: OutOfRangeInput for a negative, non-numeric or missing value, which it names, and for more than 100,000 shares.
    [[nodiscard]] result<void> validate() const;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/load_shape.ipp>
#endif
