// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `compare_retries`: the same load with clients of several retry policies. Without retries what meets an outage is lost; a fixed
/// wait brings all of it back at once, on top of the new load; exponential waits with jitter spread it.

#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/simulate.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A policy with a name for a person.
struct named_policy {
    std::string name;    ///< for a person
    retry_policy policy; ///< of all clients
};

/// The outcome of each policy.
struct retry_comparison {
    std::vector<named_policy> policies; ///< as they were given
    std::vector<simulation> runs;       ///< one for each

    /// As text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

namespace detail {

/// One row a policy.
[[nodiscard]] text_table retry_table(retry_comparison const& all);

} // namespace detail

/// None, fixed, exponential as in the provider's guide, and exponential for an interactive user.
[[nodiscard]] std::vector<named_policy> usual_policies();

/// Simulates the load with each policy in place of that of the options. Errors: those of `simulate`.
[[nodiscard]] result<retry_comparison> compare_retries(
    load_shape const& load, simulation_options const& options, std::vector<named_policy> policies = usual_policies());

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/retry_comparison.ipp>
#endif
