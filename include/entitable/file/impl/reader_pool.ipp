// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/file/detail/reader_pool.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<reader_pool::borrowed> reader_pool::borrow(patience& waits) {
    if (!place_.in_own_process()) { // before the mutex, which a thread of the parent may hold
        return opened_before_fork();
    }
    std::unique_ptr<connection> on;
    {
        std::lock_guard const lock{mutex_};
        if (auto same = place_.check_often(); !same) {
            return std::move(same).as_failure();
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

ENTITABLE_DECL result<connection> reader_pool::open_another(patience& waits) {
    if (!place_.in_own_process()) {
        return opened_before_fork();
    }
    std::lock_guard const lock{mutex_};
    if (auto same = place_.check(); !same) {
        return std::move(same).as_failure();
    }
    return connection::open(place_, options_, waits);
}

ENTITABLE_DECL void reader_pool::give_back(std::unique_ptr<connection> on) noexcept {
    if (on->broken() || !place_.in_own_process()) {
        return;
    }
    std::lock_guard const lock{mutex_};
    if (idle_.size() < options_.idle_readers) {
        idle_.reserve(options_.idle_readers);
        idle_.push_back(std::move(on));
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
