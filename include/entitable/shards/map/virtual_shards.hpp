// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `virtual_shards`: assigns each partition to one of a fixed number of virtual shards. The map records the store of
/// each shard.

#include <entitable/core/config.hpp>
#include <entitable/core/result.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The version of `shard_hash`, as stored in the header of a map.
inline constexpr std::int32_t shard_hash_version = 1;

/// Hashes a key's encoded bytes: 64-bit FNV-1a, then the final mixing of MurmurHash3, because with FNV alone the upper
/// bits of short keys are alike.
[[nodiscard]] constexpr std::uint64_t shard_hash(std::string_view key) noexcept {
    std::uint64_t mixed = 14695981039346656037U;
    for (char const each : key) { mixed = (mixed ^ static_cast<unsigned char>(each)) * 1099511628211U; }
    mixed = (mixed ^ (mixed >> 33U)) * 0xFF51AFD7ED558CCDU;
    mixed = (mixed ^ (mixed >> 33U)) * 0xC4CEB9FE1A85EC53U;
    return mixed ^ (mixed >> 33U);
}

/// Maps a hash to a bucket, 0 to `buckets` - 1, by jump consistent hashing (source: Lamping and Veach, arXiv 1406.2294). `buckets` must be
/// at least 1.
/// From n to n + 1 buckets, one key in n + 1 moves, and only to the new bucket.
[[nodiscard]] constexpr std::uint32_t jump_hash(std::uint64_t hash, std::uint32_t buckets) noexcept {
    std::int64_t bucket = 0;
    for (std::int64_t next = 0; next < std::int64_t{buckets};) {
        bucket = next;
        hash = hash * 2862933555777941757U + 1;
        next = static_cast<std::int64_t>(
            static_cast<double>(bucket + 1) * (2147483648.0 / static_cast<double>((hash >> 33U) + 1)));
    }
    return static_cast<std::uint32_t>(bucket);
}

/// Returns the number of a partition's virtual shard, from 0; nullopt if the key belongs to no shard (the error ShardUnmapped).
using shard_function = std::function<std::optional<std::uint32_t>(std::string_view partition_key)>;

/// The assignment of partitions to virtual shards. A plain value.
///
/// Thread safety: one thread at a time; however, a user-defined function is called from several threads concurrently.
///
///     virtual_shards{48};                           the hash of the partition key
///     virtual_shards::by_first_component(48);       the hash of its first component: a tenant stays together
///     virtual_shards{11, isbn_check_digit};         your own function
///     virtual_shards{48}.with_own({"tenant-42"});   49: the last shard is that tenant's
///     virtual_shards::jump(11);                     jump consistent hash: what `hash_stores` uses
///     virtual_shards::ranges({"2024-07", "2025"});  three half-open ranges, in the order of the service
class virtual_shards {
public:
    static constexpr std::uint32_t most = 900; ///< limit for one map, so that it can be read with one request

    /// Assigns by the hash of the encoded partition key.
    explicit virtual_shards(std::uint32_t number) : number_(number), way_(number > 0 ? way::hash : way::function) {}
    /// Assigns by a function of the partition key. It must never change: the map stores a fingerprint of its results for some keys, and
    /// `lookup_map::open` refuses a function with a different fingerprint.
    virtual_shards(std::uint32_t number, shard_function function)
        : number_(number), way_(way::function), function_(std::move(function)) {}
    /// Assigns by the hash of the first component of the partition key, so that all partitions that share it are in one shard.
    [[nodiscard]] static virtual_shards by_first_component(std::uint32_t number) {
        virtual_shards made{number};
        made.way_ = way::first_component;
        return made;
    }
    /// Assigns by jump consistent hash of the partition key (Lamping and Veach, 2014): from n to n + 1 shards, one key in n + 1 changes its
    /// shard.
    [[nodiscard]] static virtual_shards jump(std::uint32_t number) {
        virtual_shards made{number};
        made.way_ = way::jump;
        return made;
    }
    /// Assigns by ranges of partition keys: shard 0 holds the keys below the first bound, shard 1 the keys from the first bound to the
    /// second, and so on. The bounds ascend in the order of the service. They are used when a map is made; after that
    /// the map contains the ranges, which can be split and merged.
    [[nodiscard]] static virtual_shards ranges(std::vector<std::string> bounds = {}) {
        virtual_shards made{static_cast<std::uint32_t>(bounds.size() + 1)};
        made.way_ = way::ranges;
        made.bounds_ = std::move(bounds);
        return made;
    }

    /// Returns a copy that assigns keys without a shard to this shard. If they get their own shard later, their rows must be copied there.
    [[nodiscard]] virtual_shards otherwise(std::uint32_t shard) const {
        virtual_shards made{*this};
        made.otherwise_ = shard;
        return made;
    }

    /// Returns a copy that adds a virtual shard for each of these tenants, numbered after the others. That shard holds all partitions
    /// whose first key component is the tenant; this overrides every other rule. Not available with ranges: use bounds
    /// around the tenant instead.
    [[nodiscard]] virtual_shards with_own(std::vector<std::string> const& tenants) const {
        virtual_shards made{*this};
        for (std::string const& each : tenants) { made.own_.emplace(each, made.number()); }
        return made;
    }

    /// Returns the number of virtual shards.
    [[nodiscard]] std::uint32_t number() const noexcept { return number_ + static_cast<std::uint32_t>(own_.size()); }
    [[nodiscard]] bool has_own() const noexcept { return !own_.empty(); } ///< whether tenants have their own shards
    [[nodiscard]] bool by_ranges() const noexcept { return way_ == way::ranges; } ///< whether ranges assign the shards
    [[nodiscard]] bool by_function() const noexcept {
        return way_ == way::function;
    } ///< whether a user-defined function assigns the shards
    [[nodiscard]] std::vector<std::string> const& bounds() const noexcept { return bounds_; } ///< between ranges
    /// Returns the shard of a partition; nullopt if the partition has no shard, or if the function returns a shard that does not exist.
    [[nodiscard]] std::optional<std::uint32_t> shard_of(std::string_view partition_key) const {
        if (way_ == way::hash && own_.empty()) {
            return static_cast<std::uint32_t>(shard_hash(partition_key) % number_);
        }
        return shard_of_other(partition_key);
    }
    /// Returns a digest of the function's results for a fixed set of keys.
    [[nodiscard]] std::uint64_t fingerprint() const;

private:
    enum class way : std::uint8_t { hash, first_component, jump, function, ranges };

    [[nodiscard]] std::optional<std::uint32_t> shard_of_other(std::string_view partition_key) const;

    std::uint32_t number_;
    way way_;
    std::optional<std::uint32_t> otherwise_;
    shard_function function_;
    std::vector<std::string> bounds_;
    std::map<std::string, std::uint32_t, std::less<>> own_; ///< the shards of tenants with their own shard
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/map/impl/virtual_shards.ipp>
#endif
