// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The state shared by all handles of a map in one process: the copy, and its renewal.

#include <entitable/core/atomic.hpp>
#include <entitable/shards/map/shard_map.hpp>

#include <condition_variable>
#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Keys whose shard is to be found.
struct shard_keys {
    std::string_view first;    ///< the single key, or the start of the range
    key_interval const* range; ///< null for a single key
    std::int32_t shard;        ///< the shard that holds all of the keys, if a function assigns it

    /// Returns the place of the keys, or the place of the first key; null if the shard no longer exists.
    [[nodiscard]] shard_place const* place_in(shard_map_copy const& map) const noexcept {
        return map.by_ranges ? &map.range_of(first) : map.find_shard(shard);
    }
};

struct lookup_map_state : counted {
    lookup_map_state(any_store through, std::string name, virtual_shards how, lookup_map_options const& wishes)
        : catalogue(std::move(through)), table(std::move(name)), shards(std::move(how)), options(wishes) {}

    any_store catalogue;
    std::string table;
    virtual_shards shards;
    lookup_map_options options;

    std::mutex lock;
    std::condition_variable changed;
    shard_map_ref held;
    std::string identity;       ///< identity of the map that was opened; empty until a map with an identity is read
    std::uint64_t begun{};      ///< the number of map reads started
    std::uint64_t held_began{}; ///< the number of the read that returned the held copy
    bool renewing{};
    steady_time renews_from{};      ///< the earliest time of a renewal after a failed renewal
    bool absent{};                  ///< the handle was moved from
    atomic<std::uint64_t> writes{}; ///< grows when a write through this map begins, and when it ends

    [[nodiscard]] steady_time now() const noexcept { return options.time->steady(); }
    /// Whether a copy with an identity has been read.
    [[nodiscard]] bool has_identity() {
        std::lock_guard<std::mutex> const guard{lock};
        return !identity.empty();
    }
    /// Only reads the map. MapUnavailable if it cannot be read.
    [[nodiscard]] result<shard_map_ref> read(call const& caller);
    /// Returns the held copy, and renews it if a third of its lease has passed; `at` is the current time. Reads the map if no copy is held.
    [[nodiscard]] result<shard_map_ref> current(call const& context, steady_time at);
    /// Returns a copy whose read began after this call.
    [[nodiscard]] result<shard_map_ref> fresh(call const& context);
    /// Makes one change. `edit` receives the current map and may be called any number of times; false means that there is nothing to
    /// change.
    [[nodiscard]] result<void> change(
        call const& caller, function_ref<result<bool>(shard_map_copy const&, shard_map_draft&)> edit);
    /// Returns the keys to look up for one partition. ShardUnmapped if there is no shard.
    [[nodiscard]] result<shard_keys> keys_of(std::string_view partition_key) const;
    /// Returns the place of a partition in a copy of the map. ShardUnmapped.
    [[nodiscard]] result<shard_place const*> place_of(shard_map_copy const& map, std::string_view partition_key) const;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
