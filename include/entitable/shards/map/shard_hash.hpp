// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The hashes of shards. Part of the stored formats: the golden values of docs/stored_formats.md never change; a better hash gets a new
/// version.

#include <entitable/core/config.hpp>

#include <cstdint>
#include <string_view>

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

ENTITABLE_END_NAMESPACE
