// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `page`: the rows of one response in one arena, so that a thousand entities cost a handful of allocations.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/row/row.hpp>

#include <cstdint>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Rows in the order in which they were appended. Views of rows are valid until the page is changed or destroyed.
/// Thread safety: one thread at a time; several threads may read if none changes the page.
class page {
public:
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); } ///< number of rows
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }      ///< whether there are no rows
    /// Bytes of all rows together.
    [[nodiscard]] std::size_t bytes() const noexcept { return arena_.size(); }

    /// The row at `index`; undefined if there is none.
    [[nodiscard]] row_view operator[](std::size_t index) const noexcept {
        entry const& at = entries_[index];
        char const* const row_key = arena_.data() + at.offset + at.partition_key_size;
        char const* const payload = row_key + at.row_key_size;
        return {{arena_.data() + at.offset, at.partition_key_size}, {row_key, at.row_key_size},
            {payload, at.payload_size}, {payload + at.payload_size, at.etag_size}};
    }

    /// Copies a row to the end. Invalidates views of other rows.
    ENTITABLE_LAZY void append(row_view row);
    /// Reserves memory for `rows` rows of `bytes` bytes in total.
    ENTITABLE_LAZY void reserve(std::size_t rows, std::size_t bytes);
    /// Removes all rows; does not free the memory.
    ENTITABLE_LAZY void clear() noexcept;

private:
    struct entry {
        std::size_t offset;
        std::uint32_t partition_key_size;
        std::uint32_t row_key_size;
        std::uint32_t payload_size;
        std::uint32_t etag_size;
    };
    std::string arena_;
    std::vector<entry> entries_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/row/impl/page.ipp>
#endif

#endif
