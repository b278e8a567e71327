// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `load_of`: the load of each virtual shard and of each store, from counters of stores (`metered`). `plan_rebalance` takes it. Not part of
/// the core umbrella.
///
///     std::map<std::string, metered<any_store>> counters;       // each store that the opener returns is one of these
///     auto load = load_of(all, {{"north", north.counted()}, {"south", south.counted()}}).value();
///     auto plan = plan_rebalance(all, {.by = balance_by::load, .load = load}).value();

#include <entitable/core/decorators/metered.hpp>
#include <entitable/shards/fleet/fleet.hpp>

#include <chrono>

ENTITABLE_BEGIN_NAMESPACE

/// The counters of one store.
struct store_traffic {
    std::string store;          ///< name of the store
    std::vector<traffic> lines; ///< as `metered::counted` returns them
};

/// The load of a virtual shard, or of a store.
struct counted_load {
    std::int32_t shard{};             ///< the virtual shard; -1 for a store
    std::string store;                ///< the store that the shard is in now
    double operations{};              ///< requests; those for tables that several shards share are divided
    double errors{};                  ///< failed requests
    std::chrono::nanoseconds total{}; ///< total duration of the requests
};

/// The load of all shards and stores. A function of the shard's number, for `rebalance_options::load`.
struct fleet_load {
    std::vector<counted_load> shards; ///< by number
    std::vector<counted_load> stores; ///< by name
    double unassigned{};              ///< requests to other tables, and those without their own line in `metered`

    /// Returns the requests of a shard; 0 if it is unknown.
    [[nodiscard]] double operator()(std::int32_t shard) const noexcept;
    /// Returns the load as text for a terminal, the busiest shards first.
    [[nodiscard]] std::string to_string() const;
};

/// Assigns the counters of stores to shards by the names of tables. Requests that a moved shard got in its earlier store count for the shard,
/// and for that store. Errors: those of the map; InvalidInput names a store that is given twice.
[[nodiscard]] result<fleet_load> load_of(fleet const& of, std::vector<store_traffic> const& counters);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/shard_load.ipp>
#endif
