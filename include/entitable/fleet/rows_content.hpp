// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `rows_content`: the contents of a table as figures, whose rows and digest are the same in every store and for every way to spread the rows.

#include <entitable/row/detail/row_digest.hpp>

ENTITABLE_BEGIN_NAMESPACE
/// The contents of a table as figures. Those of several parts add up, however the rows are spread.
struct rows_content {
    std::uint64_t rows{};   ///< including system rows
    std::uint64_t bytes{};  ///< of keys and properties, as they are stored
    std::uint64_t digest{}; ///< the sum of a number for each row; Timestamps and ETags do not count

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
    /// Whether both hold the same rows. Bytes do not count: stores differ in them.
    [[nodiscard]] bool same_rows(rows_content const& other) const noexcept {
        return rows == other.rows && digest == other.digest;
    }
};

ENTITABLE_END_NAMESPACE
