// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/local/file/detail/reader_pool.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<reader_pool::borrowed> reader_pool::borrow(wait_budget& waits) {
    if (!place_.in_own_process()) { // checked first, because a thread of the parent may hold the mutex
        return opened_before_fork();
    }
    ENTITABLE_TRY(auto quiet, begin_quiet(waits));
    std::list<connection> one;
    {
        std::lock_guard const lock{mutex_};
        if (quiet && !(quiet->stamp() == idle_stamp_ && idle_stamp_.settled)) {
            idle_.clear(); // their cached pages are outdated
            idle_stamp_ = quiet->stamp();
        }
        ENTITABLE_CHECK(place_.check_often());
        if (!idle_.empty()) { one.splice(one.end(), idle_, --idle_.end()); }
    }
    if (one.empty()) {
        ENTITABLE_TRY(auto opened, connection::open_known(place_, options_, waits, access()));
        one.push_back(std::move(opened));
    }
    return result<borrowed>{std::in_place, *this, std::move(one), std::move(quiet), true};
}

ENTITABLE_DECL result<std::optional<quiet_read>> reader_pool::begin_quiet(wait_budget& waits) const {
    if (!quiet_) { return std::optional<quiet_read>{}; }
    auto begun = quiet_read::begin(place_, waits);
    return begun ? result<std::optional<quiet_read>>{*std::move(begun)} : std::move(begun).as_failure();
}

/// Takes no lock, because this function may wait; the parts of the place that it reads never change.
ENTITABLE_DECL result<reader_pool::borrowed> reader_pool::open_another(wait_budget& waits) {
    if (!place_.in_own_process()) { return opened_before_fork(); }
    ENTITABLE_CHECK(place_.same_file());
    ENTITABLE_TRY(auto quiet, begin_quiet(waits));
    ENTITABLE_TRY(auto opened, connection::open_known(place_, options_, waits, access()));
    std::list<connection> one;
    one.push_back(std::move(opened));
    return result<borrowed>{std::in_place, *this, std::move(one), std::move(quiet), false};
}

ENTITABLE_DECL void reader_pool::give_back(
    std::list<connection>& one, std::optional<quiet_read> const& quiet) noexcept {
    if (one.front().broken() || !place_.in_own_process()) { return; }
    std::lock_guard const lock{mutex_};
    bool const fits = !quiet || (quiet->stamp() == idle_stamp_ && idle_stamp_.settled);
    if (fits && idle_.size() < options_.idle_readers) { idle_.splice(idle_.end(), one); }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
