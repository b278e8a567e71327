// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `row_pointers`: the rows of a partition transaction, in order. Most transactions have few of them.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <cstddef>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

struct held_row;

/// Pointers to rows, like a vector. Holds a few of them without memory of its own.
class row_pointers {
public:
    row_pointers() = default;
    row_pointers(row_pointers const&) = delete;
    row_pointers& operator=(row_pointers const&) = delete;
    ~row_pointers() = default;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] held_row* const* begin() const noexcept { return size_ <= few ? few_ : many_.data(); }
    [[nodiscard]] held_row* const* end() const noexcept { return begin() + size_; }
    [[nodiscard]] held_row* operator[](std::size_t index) const noexcept { return begin()[index]; }
    /// Makes room for one more, so that `insert` cannot fail.
    void reserve_one() {
        if (size_ == few) {
            many_.reserve(4 * few);
            many_.assign(few_, few_ + few);
        } else if (size_ > few && many_.size() == many_.capacity()) {
            many_.reserve(2 * many_.size());
        }
    }
    void insert(std::size_t at, held_row* made) noexcept {
        if (size_ < few) {
            for (std::size_t index = size_; index > at; --index) { few_[index] = few_[index - 1]; }
            few_[at] = made;
        } else {
            many_.insert(many_.begin() + static_cast<std::ptrdiff_t>(at), made);
        }
        ++size_;
    }

private:
    static constexpr std::size_t few = 4;

    std::size_t size_{};
    held_row* few_[few]{};
    std::vector<held_row*> many_; ///< all of them, if there are more
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
