// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/local/postgres/detail/pg_fiber.hpp>

#include <poll.h>

#include <algorithm>
#include <thread>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Not inlined: a stack may continue on another thread, and a compiler would keep the address of the first thread's variable.
#if defined(__GNUC__)
__attribute__((noinline))
#endif
ENTITABLE_DECL pg_fiber*&
pg_running_fiber() noexcept {
    static thread_local pg_fiber* running = nullptr;
    return running;
}
#if defined(__GNUC__)
__attribute__((noinline))
#endif
ENTITABLE_DECL pg_fibers*&
pg_fibers::polled() noexcept {
    static thread_local pg_fibers* now = nullptr;
    return now;
}

ENTITABLE_DECL pg_fiber::pg_fiber(pg_fibers& of) noexcept
    : of_(of), side_(*of.memory_, std::size_t{256} * 1024, &first, this) {}
ENTITABLE_DECL pg_fiber::~pg_fiber() {
    ends_ = true;
    if (begun_) {
        pg_fiber* const before = pg_running_fiber();
        static_cast<void>(side_.enter());
        pg_running_fiber() = before;
    }
}
ENTITABLE_DECL pg_fiber* pg_fiber::running() noexcept { return pg_running_fiber(); }

ENTITABLE_DECL void pg_fiber::first(void* of) {
    auto& self = *static_cast<pg_fiber*>(of);
    pg_running_fiber() = &self; // on the thread that runs the code
    while (!self.ends_) {
        self.job_->run();
        self.job_ = nullptr;
        self.leave();
    }
}

ENTITABLE_DECL void pg_fiber::enter() {
    pg_fiber* const before = pg_running_fiber();
    pg_running_fiber() = this;
    begun_ = true;
    static_cast<void>(side_.enter());
    pg_running_fiber() = before;
    if (job_ == nullptr) { of_.idle_.push_back(this); }
}

ENTITABLE_DECL void pg_fiber::leave() {
    side_.leave();
    pg_running_fiber() = this;
}

ENTITABLE_DECL void pg_fiber::pause(steady_time until) {
    if (of_.ending_) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
        return;
    }
    wakes_ = until;
    at_ = of_.paused_.size();
    of_.paused_.push_back(this);
    of_.next_ = (std::min)(of_.next_, until);
    leave();
}

ENTITABLE_DECL bool pg_fiber::pause_for(io_descriptor descriptor, io_interest what, steady_time until) {
    seen_ = false;
    of_.io_.watch(descriptor, what, this);
    pause(until);
    of_.io_.watch(descriptor, io_interest::none, nullptr);
    return seen_;
}

ENTITABLE_DECL void pg_fiber::wake() noexcept {
    if (at_ == not_paused) { return; }
    pg_fiber* const last = of_.paused_.back();
    of_.paused_[at_] = last;
    last->at_ = at_;
    of_.paused_.pop_back();
    at_ = not_paused;
    of_.ready_.push_back(this);
}

ENTITABLE_DECL void pg_fiber::ready(io_descriptor, io_interest) noexcept {
    seen_ = true;
    wake();
}

ENTITABLE_DECL bool pg_fibers::begin(pg_job& job) {
    if (idle_.empty()) {
        if (all_.size() >= most) { return false; }
        auto made = std::make_unique<pg_fiber>(*this);
        if (!made->side_.allocate()) { return false; }
        all_.push_back(std::move(made));
        idle_.reserve(all_.capacity()); // one more at a time would copy all of them each time
        ready_.reserve(all_.capacity());
        idle_.push_back(all_.back().get());
    }
    pg_fiber& on = *idle_.back();
    ready_.push_back(&on);
    idle_.pop_back();
    on.job_ = &job;
    return true;
}

ENTITABLE_DECL void pg_fibers::run_ready() {
    for (std::size_t at = 0; at < ready_.size(); ++at) { ready_[at]->enter(); }
    ready_.clear();
}

ENTITABLE_DECL void pg_fibers::fire(steady_time now) noexcept {
    if (now < next_) { return; }
    next_ = (steady_time::max)();
    for (std::size_t at = 0; at < paused_.size();) {
        pg_fiber& each = *paused_[at];
        if (each.wakes_ <= now) {
            each.wake(); // another one takes its position
        } else {
            next_ = (std::min)(next_, each.wakes_);
            ++at;
        }
    }
}

ENTITABLE_DECL void pg_fibers::end_all() {
    ending_ = true;
    while (!paused_.empty() || !ready_.empty()) {
        while (!paused_.empty()) { paused_.back()->wake(); }
        run_ready();
    }
}

ENTITABLE_DECL int pg_poll(pollfd& at, int milliseconds) {
    pg_fiber* const on = pg_fiber::running();
    if (on == nullptr || on->host().ending()) { return ::poll(&at, 1, milliseconds); }
    io_interest const what = (at.events & POLLOUT) == 0 ? io_interest::read
        : (at.events & POLLIN) == 0                     ? io_interest::write
                                                        : io_interest::both;
    auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds{milliseconds};
    return on->pause_for(at.fd, what, until) ? 1 : 0;
}

ENTITABLE_DECL void pg_sleep(std::chrono::milliseconds time) {
    if (pg_fiber* const on = pg_fiber::running()) {
        on->pause(std::chrono::steady_clock::now() + time);
    } else {
        std::this_thread::sleep_for(time);
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
