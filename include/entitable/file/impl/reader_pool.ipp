// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/file/detail/reader_pool.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<reader_pool::borrowed> reader_pool::borrow(patience& waits) {
    // The system is asked where the file is; not for each of thousands of reads.
    constexpr auto look_every = std::chrono::milliseconds{20};
    std::unique_ptr<connection> on;
    steady_time const now = system_clock().steady();
    {
        std::lock_guard const lock{mutex_};
        if (checked_ == steady_time::min() || now - checked_ > look_every || !place_.in_own_process()) {
            if (auto same = place_.check(); !same) {
                return std::move(same).as_failure();
            }
            checked_ = now;
        }
        if (!idle_.empty()) {
            on = std::move(idle_.back());
            idle_.pop_back();
        }
    }
    if (!on) {
        auto opened = connection::open(place_, options_, waits);
        if (!opened) {
            return std::move(opened).as_failure();
        }
        on = std::make_unique<connection>(*std::move(opened));
    }
    return result<borrowed>{std::in_place, *this, std::move(on)};
}

ENTITABLE_DECL void reader_pool::give_back(std::unique_ptr<connection> on) noexcept {
    if (on->broken()) {
        return;
    }
    std::lock_guard const lock{mutex_};
    if (idle_.size() < options_.idle_readers) {
        idle_.reserve(options_.idle_readers);
        idle_.push_back(std::move(on));
    }
}

ENTITABLE_DECL reader_pool::~reader_pool() {
    if (!place_.check()) {
        for (auto const& each : idle_) {
            each->abandon(); // closing would harm the process, or the file, that has them too
        }
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
