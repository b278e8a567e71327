// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A list whose reader may append to it, or throw, while it reads.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <cstddef>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class T>
class pending_list {
public:
    [[nodiscard]] bool empty() const noexcept { return first_ == all_.size(); }
    void push_back(T added) { all_.push_back(std::move(added)); }
    /// Passes the present elements to `take` one after the other; elements appended in the meantime wait for the next call.
    template <class Take>
    void take_each(Take const& take) {
        all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
        for (std::size_t const end = all_.size(); first_ < end;) {
            T taken = std::move(all_[first_++]);
            take(taken);
        }
        if (empty()) {
            all_.clear();
            first_ = 0;
        }
    }
    /// Returns the first element for which `wanted` is true, or null.
    template <class Wanted>
    [[nodiscard]] T* find(Wanted const& wanted) noexcept {
        for (std::size_t index = first_; index < all_.size(); ++index) {
            if (wanted(all_[index])) { return &all_[index]; }
        }
        return nullptr;
    }

private:
    std::vector<T> all_;
    std::size_t first_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
