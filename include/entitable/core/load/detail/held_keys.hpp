// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `held_keys`: the hashes of the keys in progress, as a set with linear probing.

#include <entitable/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A set of numbers other than 0. Its memory grows and never shrinks.
class held_keys {
public:
    /// Adds a number; returns whether it was new.
    bool insert(std::uint64_t key) {
        if (2 * (count_ + 1) > slots_.size()) { grow(); }
        std::size_t at = home(key);
        for (; slots_[at] != 0; at = next(at)) {
            if (slots_[at] == key) { return false; }
        }
        slots_[at] = key;
        ++count_;
        return true;
    }
    void erase(std::uint64_t key) noexcept {
        if (slots_.empty()) { return; }
        std::size_t at = home(key);
        while (slots_[at] != key) {
            if (slots_[at] == 0) { return; }
            at = next(at);
        }
        --count_;
        // Later entries move up, unless that would put them before their home slot.
        for (std::size_t behind = next(at); slots_[behind] != 0; behind = next(behind)) {
            std::size_t const mask = slots_.size() - 1;
            if (((behind - home(slots_[behind])) & mask) >= ((behind - at) & mask)) {
                slots_[at] = slots_[behind];
                at = behind;
            }
        }
        slots_[at] = 0;
    }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

private:
    [[nodiscard]] std::size_t home(std::uint64_t key) const noexcept {
        return static_cast<std::size_t>(key) & (slots_.size() - 1);
    }
    [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & (slots_.size() - 1); }
    void grow() {
        std::vector<std::uint64_t> const before =
            std::exchange(slots_, std::vector<std::uint64_t>(slots_.empty() ? 1024 : 2 * slots_.size()));
        count_ = 0;
        for (std::uint64_t const each : before) {
            if (each != 0) { insert(each); }
        }
    }

    std::vector<std::uint64_t> slots_;
    std::size_t count_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
