// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `compare_retries`: the same load with clients of several retry policies. Without retries, requests during an outage are lost; a fixed
/// wait repeats all lost requests at once, in addition to the new load; exponential waits with jitter spread the repetitions.

#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/simulation.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A policy with a display name, and what protects the store from its clients.
struct named_policy {
    std::string name;                         ///< readable text
    retry_policy policy;                      ///< policy of all clients
    std::optional<rate_limit> limit{};        ///< `limited` in each program; absent: that of the options
    std::optional<circuit_options> circuit{}; ///< `breaking` in each program; absent: that of the options
};

/// The result of each policy.
struct retry_comparison {
    std::vector<named_policy> policies; ///< the policies compared
    std::vector<simulation> runs;       ///< one run for each policy

    /// Returns the comparison as text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

namespace detail {

/// Returns a table with one row per policy.
[[nodiscard]] text_table retry_table(retry_comparison const& all);

} // namespace detail

/// Returns the usual policies: none, fixed, exponential as in the provider's guide, and exponential for an interactive user.
[[nodiscard]] std::vector<named_policy> usual_policies();

/// Returns one policy four times: alone, with the limiter, with the circuit breaker, with both.
[[nodiscard]] std::vector<named_policy> guarded_policies(
    retry_policy const& policy, rate_limit const& limit, circuit_options const& circuit = {});

/// Simulates the load with each policy instead of the policy of the options. Errors: those of `simulate`.
[[nodiscard]] result<retry_comparison> compare_retries(
    load_shape const& load, simulation_options const& options, std::vector<named_policy> policies = usual_policies());

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/retry_comparison.ipp>
#endif
