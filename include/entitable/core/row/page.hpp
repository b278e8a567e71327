// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `page`: the rows of one response in one arena, so that a thousand entities cost a handful of allocations.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/row/row.hpp>

#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

namespace detail {

/// Bytes that grow at their end. A std::string needs several times as many instructions for each part that is appended.
class row_bytes {
public:
    row_bytes() = default;
    row_bytes(row_bytes const& other) : row_bytes() {
        reserve(other.size_);
        append(std::string_view{other.bytes_, other.size_});
    }
    row_bytes(row_bytes&& other) noexcept { swap(other); }
    row_bytes& operator=(row_bytes other) noexcept {
        swap(other);
        return *this;
    }
    ~row_bytes() { delete[] bytes_; }

    [[nodiscard]] char const* data() const noexcept { return bytes_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    void clear() noexcept { size_ = 0; }
    void reserve(std::size_t bytes) {
        if (bytes > capacity_) { move_to(bytes); }
    }
    /// Makes room for more bytes; the caller appends at most so many.
    void reserve_more(std::size_t bytes) {
        if (bytes > capacity_ - size_) { move_to((size_ + bytes) * 2); }
    }
    /// Appends bytes for which there is room.
    template <std::same_as<std::string_view>... Parts>
    void append(Parts... parts) noexcept {
        char* to = bytes_ + size_;
        auto const put = [&to](std::string_view part) {
            std::size_t const size = part.size();
            if (size >= 8 && size <= 32) { // most keys, by two moves that overlap: cheaper than a call
                size < 16 ? put_ends<8>(to, part) : put_ends<16>(to, part);
            } else if (size != 0) {
                std::memcpy(to, part.data(), size);
            }
            to += size;
        };
        (put(parts), ...);
        size_ = static_cast<std::size_t>(to - bytes_);
    }

private:
    /// Copies the first and the last bytes of a part that has at most twice as many.
    template <std::size_t Size>
    static void put_ends(char* to, std::string_view part) noexcept {
        char first[Size];
        char last[Size];
        std::memcpy(first, part.data(), Size);
        std::memcpy(last, part.data() + part.size() - Size, Size);
        std::memcpy(to, first, Size);
        std::memcpy(to + part.size() - Size, last, Size);
    }
    void swap(row_bytes& other) noexcept {
        std::swap(bytes_, other.bytes_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }
    ENTITABLE_LAZY void move_to(std::size_t capacity);

    char* bytes_{};
    std::size_t size_{};
    std::size_t capacity_{};
};

} // namespace detail

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

    /// A position in a page, for loops over its rows. Valid until the page is changed or destroyed.
    class iterator {
    public:
        [[nodiscard]] row_view operator*() const noexcept { return (*of_)[at_]; } ///< its row
        /// Goes to the next row.
        iterator& operator++() noexcept {
            ++at_;
            return *this;
        }
        [[nodiscard]] bool operator==(iterator const&) const = default; ///< whether both are at the same row of a page

    private:
        friend page;
        iterator(page const& of, std::size_t at) noexcept : of_(&of), at_(at) {}

        page const* of_;
        std::size_t at_;
    };
    [[nodiscard]] iterator begin() const noexcept { return {*this, 0}; }    ///< the first row
    [[nodiscard]] iterator end() const noexcept { return {*this, size()}; } ///< behind the last row

    /// Copies a row to the end. Invalidates views of other rows.
    ENTITABLE_LAZY void append(row_view const& row);
    /// Copies rows to the end: cheaper than one by one. Invalidates views of other rows.
    ENTITABLE_LAZY void append(std::span<row_view const> rows);
    /// Copies `count` rows of another page, from `first` on, to the end: cheaper than one by one. Invalidates views of other rows.
    ENTITABLE_LAZY void append(page const& from, std::size_t first, std::size_t count);
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
    detail::row_bytes arena_;
    std::vector<entry> entries_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/row/impl/page.ipp>
#endif

#endif
