// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `row_pointers`: the rows of a partition transaction, in order. Most transactions have few of them.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <cstddef>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

struct held_row;

/// Pointers to rows, like a vector. Holds a few of them without memory of its own. Not made of a vector: each file that includes the library
/// would compile the members of that vector.
class row_pointers {
public:
    row_pointers() = default;
    row_pointers(row_pointers const&) = delete;
    row_pointers& operator=(row_pointers const&) = delete;
    ~row_pointers() {
        if (rows_ != few_) { delete[] rows_; }
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] held_row* const* begin() const noexcept { return rows_; }
    [[nodiscard]] held_row* const* end() const noexcept { return rows_ + size_; }
    [[nodiscard]] held_row* operator[](std::size_t index) const noexcept { return rows_[index]; }
    /// Makes room for one more, so that `insert` cannot fail.
    void reserve_one() {
        if (size_ < capacity_) { return; }
        auto* const more = new held_row*[2 * capacity_];
        for (std::size_t index = 0; index < size_; ++index) { more[index] = rows_[index]; }
        if (rows_ != few_) { delete[] rows_; }
        rows_ = more;
        capacity_ *= 2;
    }
    void insert(std::size_t at, held_row* made) noexcept {
        for (std::size_t index = size_; index > at; --index) { rows_[index] = rows_[index - 1]; }
        rows_[at] = made;
        ++size_;
    }

private:
    static constexpr std::size_t few = 4;

    std::size_t size_{};
    std::size_t capacity_{few};
    held_row** rows_{few_}; ///< `few_`, or an array of its own
    held_row* few_[few]{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
