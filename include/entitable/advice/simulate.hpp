// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `simulate`: runs a load through the model of a service described in `simulation.hpp`.

#include <entitable/advice/simulation.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Simulates a load. Errors: OutOfRangeInput names the value that is out of range in the load, the options or the policy; at most 44,640
/// minutes and, request by request, 500,000,000 requests.
[[nodiscard]] result<simulation> simulate(load_shape const& load, simulation_options const& options = {});
/// Simulates a workload on the current keys of a sample.
[[nodiscard]] result<simulation> simulate(
    table_sample const& sample, workload const& load, simulation_options const& options = {});

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/simulate.ipp>
#endif
