// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// The jobs that wait for a commit, and the threads that wait with them.

#include <entitable/local/file/detail/quiet_read.hpp>
#include <entitable/local/file/detail/writer.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A job, or a checkpoint, and the thread that waits for it.
struct writer::waiting {
    write_job const* job; ///< null for a checkpoint
    call const& context;
    wait_budget waits;
    job_end end{job_end::nothing};
    result<void> outcome{};
    std::exception_ptr thrown{};
    // guarded by queue_mutex_
    std::size_t place{}; ///< index into wake_ of the condition variable on which it waits
    bool queued{true};   ///< not claimed yet
    bool done{};
    std::size_t stall{}; ///< stall in which its busy timeout began
    waiting* next{};     ///< the next writer in the same queue
};

ENTITABLE_DECL void writer::line::push_back(waiting& one) noexcept {
    one.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &one;
    last_ = &one;
}

ENTITABLE_DECL void writer::line::remove(waiting& one) noexcept {
    waiting* before = nullptr;
    for (waiting* each = first_; each != &one; each = each->next) { before = each; }
    (before == nullptr ? first_ : before->next) = one.next;
    last_ = last_ == &one ? before : last_;
}

ENTITABLE_DECL writer::line writer::line::without_first() noexcept {
    line others;
    if (first_ != nullptr && first_ != last_) {
        others.first_ = std::exchange(first_->next, nullptr);
        others.last_ = std::exchange(last_, first_);
    }
    return others;
}

ENTITABLE_DECL void writer::line::append(line& others) noexcept {
    if (!others.empty()) {
        (last_ == nullptr ? first_ : last_->next) = others.first_;
        last_ = others.last_;
        others.clear();
    }
}

/// Waits, or leads, until the job is done or given up.
ENTITABLE_DECL void writer::await(waiting& mine) {
    // A cancellation wakes no thread, and a clock need not be the system's: so both are polled.
    constexpr std::chrono::milliseconds between_questions{10};
    std::unique_lock lock{queue_mutex_};
    queue_.push_back(mine);
    mine.place = mine.job == nullptr ? 2 : generation_ % 2;
    checkpoints_ += mine.job == nullptr ? 1U : 0U;
    while (!mine.done) {
        if (may_lead(mine)) {
            led_ = true;
            claim();
            lock.unlock();
            lead(mine);
            lock.lock();
            led_ = false;
            wake_next();
        } else if (wake_[mine.place].wait_for(lock, between_questions) == std::cv_status::timeout && gives_up(mine)) {
            wake_next(); // this thread may have consumed the wake-up of another thread
            return;
        }
    }
}

/// Whether there is no leader, and the next leader's work includes this job.
ENTITABLE_DECL bool writer::may_lead(waiting const& mine) const noexcept {
    if (led_ || !claimed_.empty()) { return !led_ && !mine.queued; }
    if (checkpoints_ == 0 || queue_.first() == &mine) { return true; }
    waiting const* each = queue_.first();
    while (each != &mine && each->job != nullptr) { each = each->next; }
    return each->job != nullptr;
}

/// Removes a job that has waited too long and was not started from the queue.
ENTITABLE_DECL bool writer::gives_up(waiting& mine) {
    if (!mine.queued || mine.done) { return false; }
    if (stalled_ && std::exchange(mine.stall, stall_) != stall_) { mine.waits.begin_anew(); }
    if (stalled_ ? !mine.waits.over() : !mine.waits.call_over()) { return false; }
    mine.outcome = mine.waits.given_up();
    queue_.remove(mine);
    checkpoints_ -= mine.job == nullptr ? 1U : 0U;
    return true;
}

/// Wakes a thread that may lead now; in rare cases wakes all threads, one of which may lead.
ENTITABLE_DECL void writer::wake_next() noexcept {
    if (led_ || (claimed_.empty() && queue_.empty())) { return; }
    if (claimed_.empty() && checkpoints_ == 0) {
        wake_[queue_.first()->place].notify_one();
        return;
    }
    for (auto& each : wake_) { each.notify_all(); }
}

/// Claims the first job if it is a checkpoint; otherwise claims the jobs before the first checkpoint.
ENTITABLE_DECL void writer::claim() noexcept {
    if (!claimed_.empty()) {
        return; // another leader has left claimed jobs behind
    }
    ++generation_;
    one_by_one_ = room_won_ = false;
    while (waiting* const each = queue_.first()) {
        bool const is_job = each->job != nullptr;
        if (!is_job && !claimed_.empty()) { return; }
        queue_.remove(*each);
        each->queued = false;
        claimed_.push_back(*each);
        if (!is_job) {
            --checkpoints_;
            return;
        }
    }
}

ENTITABLE_DECL void writer::finish(waiting& one) {
    claimed_.remove(one);
    std::lock_guard const lock{queue_mutex_};
    one.done = true;
    wake_[one.place].notify_all();
}

ENTITABLE_DECL void writer::finish_all() {
    bool used[3] = {};
    {
        std::lock_guard const lock{queue_mutex_};
        for (waiting* each = claimed_.first(); each != nullptr; each = each->next) {
            each->done = true; // its owner destroys it once the lock is released
            used[each->place] = true;
        }
        claimed_.clear();
    }
    for (std::size_t place = 0; place < 3; ++place) {
        if (used[place]) { wake_[place].notify_all(); }
    }
}

ENTITABLE_DECL void writer::fail_all(failure why) {
    for (waiting* each = claimed_.first(); each != nullptr; each = each->next) {
        each->outcome = failure{entitable::error{why.error()}};
    }
    finish_all();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
