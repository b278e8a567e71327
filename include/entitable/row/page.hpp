// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `page`: the rows of one answer in one arena, so that a thousand entities cost a handful of allocations.

#include <entitable/row/row.hpp>

#include <cstdint>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Rows in the order in which they were appended. Views of rows are valid until the page is changed or destroyed.
/// Thread safety: one thread at a time; several may read while none changes it.
class page {
public:
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); } ///< how many rows
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }      ///< whether there is none
    /// Bytes of all rows.
    [[nodiscard]] std::size_t bytes() const noexcept { return arena_.size(); }

    /// A row; undefined when there is none at `index`.
    [[nodiscard]] row_view operator[](std::size_t index) const noexcept {
        entry const& at = entries_[index];
        char const* const row_key = arena_.data() + at.offset + at.partition_key_size;
        char const* const payload = row_key + at.row_key_size;
        return {{arena_.data() + at.offset, at.partition_key_size}, {row_key, at.row_key_size},
            {payload, at.payload_size}, {payload + at.payload_size, at.etag_size}};
    }

    /// Copies a row to the end. Invalidates views of other rows.
    ENTITABLE_LAZY void append(row_view row) {
        entries_.push_back({arena_.size(), static_cast<std::uint32_t>(row.partition_key.size()),
            static_cast<std::uint32_t>(row.row_key.size()), static_cast<std::uint32_t>(row.payload.size()),
            static_cast<std::uint32_t>(row.etag_text.size())});
        char const* const first = row.partition_key.data();
        std::size_t const keys = row.partition_key.size() + row.row_key.size();
        if (first + row.partition_key.size() == row.row_key.data() && first + keys == row.payload.data()) {
            arena_.append(first, keys + row.payload.size()); // as in the arena of another page
        } else {
            arena_.append(row.partition_key).append(row.row_key).append(row.payload);
        }
        if (!row.etag_text.empty()) {
            arena_.append(row.etag_text);
        }
    }
    /// Reserves memory for `rows` rows of `bytes` bytes in all.
    ENTITABLE_LAZY void reserve(std::size_t rows, std::size_t bytes) {
        entries_.reserve(rows);
        arena_.reserve(bytes);
    }
    /// Removes all rows but keeps the memory.
    ENTITABLE_LAZY void clear() noexcept {
        entries_.clear();
        arena_.clear();
    }

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
