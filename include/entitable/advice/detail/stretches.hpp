// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `stretch_recorder`: records a simulation second by second, for both engines.

#include <entitable/advice/detail/range_map.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The events of one second.
struct simulated_second {
    double offered{}, sent{}, served{}, refused{}, lost{}, unsent{};
    double latency{}; ///< sum over the served requests, seconds
    std::uint32_t servers{};
};

/// Adds up seconds. Used by one thread at a time.
class stretch_recorder {
public:
    stretch_recorder(simulation& into, double seconds, std::size_t partitions);
    void add(double second, simulated_second const& one, std::vector<double> const& asked);
    void finish();

private:
    simulation& into_;
    double seconds_;
    double stretch_seconds_;
    std::size_t rows_;
    std::vector<double> latency_; ///< sums of latencies
    double all_latency_{};
};

/// Whether a planned outage is active.
[[nodiscard]] bool is_out(simulation_options const& options, double second) noexcept;

/// The engines. Both engines fill in everything except the load and the options.
void simulate_requests(simulation& into);
void simulate_fluid(simulation& into);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/fluid_engine.ipp>
#include <entitable/advice/impl/request_engine.ipp>
#include <entitable/advice/impl/stretches.ipp>
#endif
