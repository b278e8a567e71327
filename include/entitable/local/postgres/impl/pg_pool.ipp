// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/local/postgres/detail/pg_lane.hpp>
#include <entitable/local/postgres/detail/pg_pool.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL bool pg_pool::has_one() const noexcept {
    bool const may_open = lent_ == 0 || std::chrono::steady_clock::now() >= no_room_until_;
    return !idle_.empty() || (lent_ < options_.connections && may_open);
}

/// Takes an idle connection into `one`, or returns that a new connection may be opened.
ENTITABLE_DECL result<bool> pg_pool::wait_for_one(
    std::unique_lock<std::mutex>& lock, std::list<pg_connection>& one, pg_wait const& until) {
    if (!waiting_.empty() || !has_one()) {
        waiter own;
        own.fiber = pg_fiber::running();
        std::list<waiter*> place{&own};
        waiting_.splice(waiting_.end(), place);
        auto const mine = --waiting_.end();
        while (waiting_.front() != &own || !has_one()) {
            if (until.over()) {
                waiting_.erase(mine);
                if (!waiting_.empty()) { waiting_.front()->wake(); }
                auto allowed = until.allowed();
                return allowed ? failure{error_code::store_busy,
                                     "every connection to the database is in use (postgres_options::connections)"}
                               : std::move(allowed).as_failure();
            }
            if (own.fiber != nullptr) { // another thread cannot wake it: the first one looks more often
                bool const next = waiting_.front() == &own;
                lock.unlock();
                own.fiber->pause(std::chrono::steady_clock::now() +
                    (std::min)(std::chrono::milliseconds{next ? 3 : 20}, std::chrono::milliseconds{until.slice()}));
                lock.lock();
            } else {
                own.woken.wait_for(lock, std::chrono::milliseconds{until.slice()});
            }
        }
        waiting_.erase(mine);
        if (!waiting_.empty()) { // more than one connection may be available
            waiting_.front()->wake();
        }
    }
    ++lent_;
    if (idle_.empty()) { return true; }
    one.splice(one.end(), idle_, --idle_.end());
    return false;
}

/// Only the thread of a channel may wake its stacks.
ENTITABLE_DECL void pg_pool::waiter::wake() noexcept {
    if (fiber == nullptr) {
        woken.notify_one();
    } else if (pg_fiber const* const here = pg_fiber::running();
        &fiber->host() == (here != nullptr ? &here->host() : pg_fibers::polled())) {
        fiber->wake();
    }
}

ENTITABLE_DECL bool pg_pool::is_waited_for() noexcept {
    std::lock_guard const lock{mutex_};
    return !waiting_.empty();
}

ENTITABLE_DECL result<pg_pool::borrowed> pg_pool::borrow_place(
    pg_lane_use what, std::int64_t key, call const& context) {
    pg_fiber const* const on = pg_fiber::running();
    pg_lanes* const lanes = on != nullptr && !on->host().ending() ? on->host().lanes : nullptr;
    if (lanes == nullptr || !lanes->belongs_to(*this)) { return borrow(context); }
    return lanes->enter(what, key, {context, *options_.local.time, options_.longest_wait});
}

ENTITABLE_DECL result<pg_pool::borrowed> pg_pool::borrow(call const& context) {
    return borrow({context, *options_.local.time, options_.longest_wait});
}

ENTITABLE_DECL result<pg_pool::borrowed> pg_pool::borrow(pg_wait const& until) {
    if (forks_ != platform::forks()) { // before the lock, which a thread of the parent may hold
        return failure{error_code::store_failed,
            "the database was opened before this process was forked, and belongs to its parent; open it again "
            "here"};
    }
    for (;;) {
        std::list<pg_connection> one;
        {
            std::unique_lock lock{mutex_};
            ENTITABLE_TRY(auto opens, wait_for_one(lock, one, until));
            if (!opens) { return result<borrowed>{std::in_place, *this, std::move(one), false}; }
        }
        bool no_room = false;
        auto opened = pg_connection::open(
            target_, statements_, options_, false, until.at_most(options_.connect_timeout), no_room);
        if (opened) {
            one.push_back(*std::move(opened));
            return result<borrowed>{std::in_place, *this, std::move(one), true};
        }
        bool alone = false;
        {
            std::lock_guard const lock{mutex_};
            alone = lent_ == 1;
            if (no_room) { no_room_until_ = std::chrono::steady_clock::now() + std::chrono::milliseconds{100}; }
        }
        take_back(one);
        if (!no_room || until.over()) {
            auto allowed = until.allowed();
            return allowed ? std::move(opened).as_failure() : std::move(allowed).as_failure();
        }
        if (alone) { // this process has no connection to return, but others may
            pg_sleep(std::chrono::milliseconds{until.slice()});
        }
    }
}

ENTITABLE_DECL void pg_pool::take_back(std::list<pg_connection>& one) noexcept {
    {
        std::lock_guard const lock{mutex_};
        --lent_;
        if (!one.empty() && !one.front().spent()) { idle_.splice(idle_.end(), one); }
        if (!waiting_.empty()) { waiting_.front()->wake(); }
    }
    one.clear();
}

ENTITABLE_DECL void pg_pool::forget_idle() noexcept {
    std::list<pg_connection> old;
    std::lock_guard const lock{mutex_};
    old.swap(idle_);
}

ENTITABLE_DECL std::unique_ptr<stack_pool> pg_pool::take_stacks() noexcept {
    std::lock_guard const lock{mutex_};
    return std::move(stacks_);
}

ENTITABLE_DECL void pg_pool::keep_stacks(std::unique_ptr<stack_pool> stacks) noexcept {
    std::lock_guard const lock{mutex_};
    stacks_.swap(stacks);
}

ENTITABLE_DECL result<void> pg_pool::open_first(call const& context) {
    bool no_room = false;
    auto opened = pg_connection::open(target_, statements_, options_, options_.create,
        {context, *options_.local.time, options_.connect_timeout}, no_room);
    if (!opened) { return std::move(opened).as_failure(); }
    std::lock_guard const lock{mutex_};
    idle_.push_back(*std::move(opened));
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
