// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/page.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY void detail::row_bytes::move_to(std::size_t capacity) {
    char* const larger = new char[capacity];
    if (size_ > 0) { std::memcpy(larger, bytes_, size_); }
    delete[] bytes_;
    bytes_ = larger;
    capacity_ = capacity;
}

ENTITABLE_LAZY_BODY void page::append(row_view const& row) {
    entries_.push_back({arena_.size(), static_cast<std::uint32_t>(row.partition_key.size()),
        static_cast<std::uint32_t>(row.row_key.size()), static_cast<std::uint32_t>(row.payload.size()),
        static_cast<std::uint32_t>(row.etag_text.size())});
    std::size_t const rest = row.row_key.size() + row.payload.size();
    arena_.reserve_more(row.partition_key.size() + rest + row.etag_text.size());
    if (row.row_key.data() + row.row_key.size() == row.payload.data()) { // as in the arena of another page
        arena_.append(row.partition_key, std::string_view{row.row_key.data(), rest}, row.etag_text);
    } else {
        arena_.append(row.partition_key, row.row_key, row.payload, row.etag_text);
    }
}

ENTITABLE_LAZY_BODY void page::append(std::span<row_view const> rows) {
    std::size_t bytes = 0;
    for (row_view const& each : rows) {
        bytes += each.partition_key.size() + each.row_key.size() + each.payload.size() + each.etag_text.size();
    }
    arena_.reserve_more(bytes);
    std::size_t const before = entries_.size();
    entries_.resize(before + rows.size());
    entry* to = entries_.data() + before;
    for (row_view const& each : rows) {
        *to++ = {arena_.size(), static_cast<std::uint32_t>(each.partition_key.size()),
            static_cast<std::uint32_t>(each.row_key.size()), static_cast<std::uint32_t>(each.payload.size()),
            static_cast<std::uint32_t>(each.etag_text.size())};
        arena_.append(each.partition_key, each.row_key, each.payload, each.etag_text);
    }
}

ENTITABLE_LAZY_BODY void page::append(page const& from, std::size_t first, std::size_t count) {
    if (count == 0) { return; }
    std::size_t const behind = first + count;
    std::size_t const begin = from.entries_[first].offset;
    std::size_t const end = behind < from.entries_.size() ? from.entries_[behind].offset : from.arena_.size();
    arena_.reserve_more(end - begin);
    auto const taken = from.entries_.begin() + static_cast<std::ptrdiff_t>(first);
    entries_.insert(entries_.end(), taken, taken + static_cast<std::ptrdiff_t>(count));
    for (std::size_t at = entries_.size() - count; at < entries_.size(); ++at) {
        entries_[at].offset = entries_[at].offset - begin + arena_.size();
    }
    arena_.append(std::string_view{from.arena_.data() + begin, end - begin});
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
