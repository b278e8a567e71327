// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `rows_content`: counts and a digest of a table's rows, independent of the stores and of how the rows are distributed.

#include <entitable/core/row/detail/row_digest.hpp>

ENTITABLE_BEGIN_NAMESPACE
/// Counts and a digest of a table's rows. The contents of several parts can be added, however the rows are distributed.
struct rows_content {
    std::uint64_t rows{};   ///< including system rows
    std::uint64_t bytes{};  ///< stored size of keys and properties
    std::uint64_t digest{}; ///< the sum of a number for each row; ignores Timestamps and ETags

    /// Adds a row.
    void add(row_view each) noexcept {
        ++rows;
        bytes += each.partition_key.size() + each.row_key.size() + each.payload.size();
        digest += detail::content_digest(each);
    }
    /// Adds another part.
    rows_content& operator+=(rows_content const& other) noexcept {
        rows += other.rows;
        bytes += other.bytes;
        digest += other.digest;
        return *this;
    }
    /// Whether both hold the same rows. `bytes` is ignored, because it differs between stores.
    [[nodiscard]] bool same_rows(rows_content const& other) const noexcept {
        return rows == other.rows && digest == other.digest;
    }
};

ENTITABLE_END_NAMESPACE
