// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A list that is read while its reader appends to it, or throws.

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
    /// Takes those that are there now, one after the other; what is appended meanwhile stays for the next call.
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
    /// The first for which `wanted` is true, or null.
    template <class Wanted>
    [[nodiscard]] T* find(Wanted const& wanted) noexcept {
        for (std::size_t index = first_; index < all_.size(); ++index) {
            if (wanted(all_[index])) {
                return &all_[index];
            }
        }
        return nullptr;
    }

private:
    std::vector<T> all_;
    std::size_t first_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
