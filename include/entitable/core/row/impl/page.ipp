// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/page.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY void page::append(row_view row) {
    entries_.push_back({arena_.size(), static_cast<std::uint32_t>(row.partition_key.size()),
        static_cast<std::uint32_t>(row.row_key.size()), static_cast<std::uint32_t>(row.payload.size()),
        static_cast<std::uint32_t>(row.etag_text.size())});
    char const* const first = row.partition_key.data();
    std::size_t const keys = row.partition_key.size() + row.row_key.size();
    if (first + row.partition_key.size() == row.row_key.data() && first + keys == row.payload.data()) {
        arena_.append(first, keys + row.payload.size()); // same layout as in the arena of another page
    } else {
        arena_.append(row.partition_key).append(row.row_key).append(row.payload);
    }
    if (!row.etag_text.empty()) { arena_.append(row.etag_text); }
}

ENTITABLE_LAZY_BODY void page::reserve(std::size_t rows, std::size_t bytes) {
    entries_.reserve(rows);
    arena_.reserve(bytes);
}

ENTITABLE_LAZY_BODY void page::clear() noexcept {
    entries_.clear();
    arena_.clear();
}

ENTITABLE_END_NAMESPACE
