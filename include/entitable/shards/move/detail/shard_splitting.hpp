// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Splits a range of a map at a key, by one change of the map, and erases the keys of a table that no shard uses any more, so that the split
/// frees space. Each is a resumable operation.

#include <entitable/core/request/key_range.hpp>
#include <entitable/core/request/resumable.hpp>
#include <entitable/shards/map/detail/shard_map_rows.hpp>

#include <cstdint>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Receives the number of the upper half, and may add changes to other rows in the map's table; may be called any number of times.
using also_in_splitting = std::function<result<void>(std::int32_t upper, shard_map_draft&)>;

/// Splits a range; returns the number of the upper half. Both halves use the range's existing tables, so an older copy of the map stays
/// correct: it gives the same place for every key before and after the split. The nonce must be unique among changes.
[[nodiscard]] resumable<std::int32_t> split_in_map(
    std::string table, std::int32_t shard, std::string key, std::string nonce, also_in_splitting also);

/// Splits a range, as `split_shard` does: the same change adds the upper half to every rule that names the range.
[[nodiscard]] result<std::int32_t> split_range(lookup_map const& map, std::int32_t shard, std::string key);

/// Reads the first remaining page and erases it, until no rows remain. So it may stop at any point, run twice concurrently and start over.
/// A missing table counts as done. Rows that arrive late stay; no shard reads them. Adds the number of rows whose removal was confirmed to
/// `erased`, which must outlive the operation.
[[nodiscard]] resumable<void> erase_keys(std::string table, std::vector<key_interval> partitions,
    std::uint32_t page_size, std::size_t place, std::uint64_t& erased);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/move/impl/shard_splitting.ipp>
#endif
