// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The timers of a loop: a heap whose members store their positions, so that removing one takes O(log n).

#include <entitable/async/detail/parked.hpp>

#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The timers, with the next timer on top. Used by one thread.
class loop_timers {
public:
    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    [[nodiscard]] parked& top() const noexcept { return *heap_.front(); }
    [[nodiscard]] steady_time next() const noexcept { return empty() ? (steady_time::max)() : top().wakes; }
    [[nodiscard]] std::vector<parked*> const& all() const noexcept { return heap_; }

    /// Adds a timer, which expires at `wakes`.
    void add(parked& one) {
        heap_.push_back(&one);
        rise(heap_.size() - 1);
    }
    /// Removes a timer; has no effect if it was not added.
    void remove(parked& one) noexcept {
        std::uint32_t const at = std::exchange(one.timer_index, parked::no_timer);
        if (at == parked::no_timer) { return; }
        parked* const last = heap_.back();
        heap_.pop_back();
        if (at < heap_.size()) {
            put(at, last);
            rise(at);
            sink(last->timer_index);
        }
    }

private:
    void put(std::size_t at, parked* one) noexcept {
        heap_[at] = one;
        one->timer_index = static_cast<std::uint32_t>(at);
    }
    void rise(std::size_t at) noexcept {
        parked* const one = heap_[at];
        while (at > 0 && one->wakes < heap_[(at - 1) / 2]->wakes) {
            put(at, heap_[(at - 1) / 2]);
            at = (at - 1) / 2;
        }
        put(at, one);
    }
    void sink(std::size_t at) noexcept {
        parked* const one = heap_[at];
        for (;;) {
            std::size_t child = 2 * at + 1;
            if (child + 1 < heap_.size() && heap_[child + 1]->wakes < heap_[child]->wakes) { ++child; }
            if (child >= heap_.size() || heap_[child]->wakes >= one->wakes) { break; }
            put(at, heap_[child]);
            at = child;
        }
        put(at, one);
    }

    std::vector<parked*> heap_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
