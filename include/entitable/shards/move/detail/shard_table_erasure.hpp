// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Erases the keys of a table that no shard uses any more, so that a split frees space: a resumable operation.

#include <entitable/core/request/key_range.hpp>
#include <entitable/core/request/resumable.hpp>

#include <cstdint>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads the first remaining page and erases it, until no rows remain. So it may stop at any point, run twice concurrently and start over.
/// A missing table counts as done. Rows that arrive late stay; no shard reads them. Adds the number of rows whose removal was confirmed to
/// `erased`, which must outlive the operation.
[[nodiscard]] resumable<void> erase_keys(std::string table, std::vector<key_interval> partitions,
    std::uint32_t page_size, std::size_t place, std::uint64_t& erased);

} // namespace detail
ENTITABLE_END_NAMESPACE
