// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// The leader: claims jobs, begins a transaction, and waits for other stores.

#include <entitable/core/try.hpp>
#include <entitable/local/file/detail/schema.hpp>
#include <entitable/local/file/impl/writer_queue.ipp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL writer::writer(
    file_place place, file_options const& options, file_lock lock, connection first, bool read_only)
    : read_only_(read_only),
      place_(std::move(place)),
      options_(options),
      lock_(std::move(lock)),
      on_(std::move(first)),
      log_(place_.log()),
      checkpoint_at_(options.checkpoint_bytes / file_format::page_bytes) {
    on_->count_log_pages(log_pages_);
}

ENTITABLE_DECL writer::~writer() {
    if (!on_ || read_only_) { return; }
    bool alone = false;
#if ENTITABLE_HAS_EXCEPTIONS
    try {
#endif
        auto const locked = lock_.try_lock();
        alone = locked && *locked && place_.same_file() && lock_.try_use(file_lock::use::alone) &&
            (!lost_log() || has_last_log());
#if ENTITABLE_HAS_EXCEPTIONS
    } catch (...) { // there is no memory for an error message: the log is not moved
    }
#endif
    if (alone) {
        on_->end_log_at_close(); // no store in any process has the file open
    }
    on_.reset();
}

ENTITABLE_DECL result<void> writer::run(write_job job, call const& context) { return run_or_move_log(&job, context); }

ENTITABLE_DECL result<void> writer::checkpoint(call const& context) { return run_or_move_log(nullptr, context); }

ENTITABLE_DECL result<void> writer::run_or_move_log(write_job const* job, call const& context) {
    if (!place_.in_own_process()) { // checked first, because a thread of the parent may hold the mutex
        return opened_before_fork();
    }
    if (read_only_) { return cannot_be_written(place_.path()); }
    waiting mine{job, context, wait_budget{options_, context}};
    await(mine);
    if (mine.thrown) { std::rethrow_exception(mine.thrown); }
    return std::move(mine.outcome);
}

/// Processes the claimed jobs, and ends when its own job is done: another thread continues with the remaining jobs.
ENTITABLE_DECL void writer::lead(waiting& mine) {
#if ENTITABLE_HAS_EXCEPTIONS
    try {
#endif
        if (mine.job == nullptr) {
            move_log(mine);
        } else {
            commit_claimed(mine);
            if (claimed_.empty()) { keep_log_short(mine); }
        }
#if ENTITABLE_HAS_EXCEPTIONS
    } catch (...) {
        on_.reset(); // closing the connection rolls the transaction back
        claimed_.append(held_back_);
        for (waiting* each = claimed_.first(); each != nullptr; each = each->next) {
            each->thrown = std::current_exception();
        }
        finish_all();
    }
#endif
    lock_.unlock();
}

ENTITABLE_DECL void writer::commit_claimed(waiting& mine) {
    while (!mine.done && begin(mine)) {
        if (one_by_one_) { held_back_ = claimed_.without_first(); }
        ended const how = run_once(mine);
        claimed_.append(held_back_);
        if (how == ended::full) {
            find_room(mine);
        } else if (how == ended::done) {
            room_won_ = false;
        }
    }
}

/// Runs one transaction of the claimed jobs.
ENTITABLE_DECL writer::ended writer::run_once(waiting& mine) {
    std::int64_t bound = 0;
    bool known = false;
    { // the statement must end before the next steps, which may close its connection
        statement read{*on_, sql::version_bound};
        known = read.step() == stepped::row;
        bound = known ? read.number(0) : 0;
        if (!known) { fail_all(on_->problem("cannot read the file")); }
    }
    if (!known) {
        release();
        return ended::again;
    }
    commit_group group{*on_, versions_.last(bound)};
    bool any = false;
    if (waiting* const broken = run_jobs(group, any)) {
        if (!broken->thrown && on_->out_of_room() && !room_won_) {
            give_up();
            return ended::full;
        }
        release();
        finish(*broken);
        return ended::again; // commits the other jobs without the failed job
    }
    if (any) { return commit(mine, group, bound); }
    release();
    finish_all();
    return ended::again;
}

/// Handles lack of space for the claimed jobs, with the writer lock: first frees space, then tries each job alone, and then refuses the
/// first.
ENTITABLE_DECL void writer::find_room(waiting& mine) {
    if (!std::exchange(room_won_, true) && win_room(mine)) { return; }
    waiting& first = *claimed_.first();
    if (!std::exchange(one_by_one_, true) && first.next != nullptr) { return; }
    first.outcome = failure{error_code::store_full, "out of disk space for the file, or its size limit is reached"};
    finish(first);
}

/// Begins a transaction; false if the leader's job has ended.
ENTITABLE_DECL bool writer::begin(waiting& mine) {
    for (;;) {
        auto begun = try_begin();
        if (!begun) {
            fail_all(std::move(begun).as_failure());
            return false;
        }
        if (*begun) {
            stalled(false);
            return true;
        }
        if (!wait_on(mine) && mine.done) { return false; }
    }
}

/// Returns false if other stores write.
ENTITABLE_DECL result<bool> writer::try_begin() {
    ENTITABLE_CHECK(place_.same_file());
    auto locked = lock_.try_lock();
    if (!locked || !*locked) { return locked; }
    if (auto opened = open_connection(); !opened) {
        lock_.unlock();
        if (opened.error().code == error_code::store_busy) { return false; }
        return std::move(opened).as_failure();
    }
    if (std::exchange(fresh_, false)) { on_->cut_part_of_page(); }
    stepped const begun = on_->run(sql::begin_write);
    if (begun == stepped::done) { return true; }
    failure failed = on_->problem("cannot write the file");
    release();
    if (begun == stepped::busy) { return false; }
    return failed;
}

/// Opens the connection again after an error, or the removal of its log, has closed it.
ENTITABLE_DECL result<void> writer::open_connection() {
    if (on_ && lost_log()) {
        if (has_last_log()) { static_cast<void>(on_->checkpoint(true)); }
        on_.reset();
        versions_.forget();
    }
    if (on_) { return {}; }
    call const none;
    wait_budget once{options_, none, std::chrono::nanoseconds{0}};
    ENTITABLE_TRY(auto opened, connection::open_known(place_, options_, once));
    on_.emplace(std::move(opened));
    on_->count_log_pages(log_pages_);
    log_ = place_.log();
    fresh_ = true;
    return {};
}

/// Called if other stores hold the file: waits briefly; or ends the jobs whose time is over, and returns false.
ENTITABLE_DECL bool writer::wait_on(waiting& mine) {
    stalled(true);
    bool all_wait = true;
    for (waiting* each = claimed_.first(); each != nullptr;) {
        waiting& one = *std::exchange(each, each->next);
        if (std::exchange(one.stall, stall_) != stall_) { one.waits.begin_anew(); }
        if (one.waits.over()) {
            one.outcome = one.waits.given_up();
            finish(one);
            all_wait = false;
        }
    }
    if (all_wait) { mine.waits.pause(lock_.is_next()); }
    return all_wait;
}

/// Records for unclaimed jobs whether other stores hold the file. Only leaders change this record.
ENTITABLE_DECL void writer::stalled(bool now) noexcept {
    if (stalled_ != now) {
        std::lock_guard const lock{queue_mutex_};
        stalled_ = now;
        stall_ += now ? 1U : 0U;
    }
}

/// Rolls the transaction back, and closes the connection if it is broken.
ENTITABLE_DECL void writer::give_up() noexcept {
    if (on_) {
        on_->roll_back();
        if (on_->broken()) { on_.reset(); }
    }
}

/// Rolls back, and releases the writer lock.
ENTITABLE_DECL void writer::release() noexcept {
    give_up();
    lock_.unlock();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
