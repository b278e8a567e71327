// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `simulate_stores`: the load of a workload on the stores of a shard key, each a service of its own (`simulate`), one of which may be down.
///
///     simulate_stores(sample, load, score, {.minutes = 10}, {{.store = 1, .begin = 60, .seconds = 30}});

#include <entitable/advice/sharding/shard_advice.hpp>
#include <entitable/advice/simulation.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A time in which a store returns 503 for all partitions.
struct store_outage {
    std::uint32_t store{}; ///< the store
    double begin{};        ///< second at which the outage begins
    double seconds{};      ///< duration in seconds
};

/// The stores of a shard key under a load.
struct shard_simulation {
    std::string key;                ///< name of the shard key
    std::vector<simulation> stores; ///< one for each store with load; without load, an empty simulation
    double offered{};               ///< requests of all stores, without retries
    double sent{};                  ///< requests of all stores, including retries
    double served{};                ///< requests that were served
    double lost{};                  ///< requests that were given up

    /// Returns the fraction of the new requests that was given up, 0 to 1.
    [[nodiscard]] double lost_share() const noexcept { return offered <= 0 ? 0 : lost / offered; }
    /// Returns the results as text for a terminal, a line for each store.
    [[nodiscard]] std::string to_string() const;
};

/// Simulates each store with the partitions that are in it. Rows without a shard have no load. The seed of store k is that of the options
/// plus k. Errors: those of `simulate` and `workload::validate`; InvalidInput for an outage of a store that does not exist, or if the sample
/// lacks the shard key's members.
[[nodiscard]] result<shard_simulation> simulate_stores(table_sample const& sample, workload const& load,
    shard_key_score const& of, simulation_options const& options = {}, std::vector<store_outage> const& down = {});

namespace detail {

/// Returns one line for each store.
[[nodiscard]] text_table simulated_store_rows(shard_simulation const& of);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/sharding/impl/shard_simulation.ipp>
#endif
