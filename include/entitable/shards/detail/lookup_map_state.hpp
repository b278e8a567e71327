// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What all handles of a map share in one process: the copy, and who renews it.

#include <entitable/shards/shard_map.hpp>

#include <condition_variable>
#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Keys whose shard is asked for.
struct shard_keys {
    std::string_view first;    ///< the one key, or where the range begins
    key_interval const* range; ///< null for the one key
    std::int32_t shard;        ///< that holds them all, where a function decides

    /// Where they are, or the first of them; null where there is no such shard any more.
    [[nodiscard]] shard_place const* place_in(shard_map_copy const& map) const noexcept {
        return map.by_ranges ? &map.range_of(first) : map.find_shard(shard);
    }
};

struct lookup_map_state : counted {
    lookup_map_state(any_transport through, std::string name, virtual_shards how, lookup_map_options const& wishes)
        : catalogue(std::move(through)), table(std::move(name)), shards(std::move(how)), options(wishes) {}

    any_transport catalogue;
    std::string table;
    virtual_shards shards;
    lookup_map_options options;

    std::mutex lock;
    std::condition_variable changed;
    shard_map_ref held;
    std::string identity;       ///< of the map that was opened; empty until one is read that has one
    std::uint64_t begun{};      ///< readings of the map
    std::uint64_t held_began{}; ///< which of them gave what is held
    bool renewing{};
    steady_time renews_from{}; ///< after one that failed
    bool absent{};             ///< the handle was moved from

    [[nodiscard]] steady_time now() const noexcept { return options.time->steady(); }
    /// Whether a copy was read of a map that has an identity.
    [[nodiscard]] bool has_identity() {
        std::lock_guard<std::mutex> const guard{lock};
        return !identity.empty();
    }
    /// Reads the map, and nothing else. MapUnavailable where it cannot be read.
    [[nodiscard]] result<shard_map_ref> read(call const& caller);
    /// The copy that is held, renewed when a third of its lease is over `at` this time, which is now; one is read where there is none.
    [[nodiscard]] result<shard_map_ref> current(call const& context, steady_time at);
    /// A copy whose reading began after this call.
    [[nodiscard]] result<shard_map_ref> fresh(call const& context);
    /// One change: `edit` is given the map as it is, any number of times. False of it: nothing is to be changed.
    [[nodiscard]] result<void> change(
        call const& caller, function_ref<result<bool>(shard_map_copy const&, shard_map_draft&)> edit);
    /// Whose shard is asked for. ShardUnmapped.
    [[nodiscard]] result<shard_keys> keys_of(std::string_view partition_key) const;
    /// The place of a partition in a copy of the map. ShardUnmapped.
    [[nodiscard]] result<shard_place const*> place_of(shard_map_copy const& map, std::string_view partition_key) const;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
