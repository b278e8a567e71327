// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/file/detail/schema.hpp>
#include <entitable/file/detail/writer.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A job and the thread that waits for it.
struct writer::waiting {
    write_job job;
    patience waits;
    job_end end{job_end::nothing};
    result<void> outcome{};
    std::exception_ptr thrown{};
    bool done{}; ///< guarded by queue_mutex_
};

ENTITABLE_DECL writer::writer(file_place place, file_options const& options, writer_lock lock, connection first)
    : place_(std::move(place)),
      options_(options),
      lock_(std::move(lock)),
      on_(std::move(first)),
      checkpoint_at_(options.checkpoint_bytes / file_format::page_bytes) {
    on_->count_log_pages(log_pages_);
}

ENTITABLE_DECL writer::~writer() {
    if (!on_) {
        return;
    }
    auto locked = lock_.try_lock();
    bool const held = locked && *locked && place_.check();
    if (held) {
        on_->end_log_at_close();
    }
    on_.reset();
    if (held) {
        lock_.unlock();
    }
}

ENTITABLE_DECL result<void> writer::run(write_job job, steady_time until) {
    if (!place_.in_own_process()) { // before the mutex, which a thread of the parent may hold
        return opened_before_fork();
    }
    waiting mine{job, patience{options_, until}};
    bool leads = false;
    {
        std::unique_lock lock{queue_mutex_};
        queue_.push_back(&mine);
        if (led_) {
            wake_[generation_ % 2].wait(lock, [&] { return mine.done || leader_wanted_; });
        }
        leads = !mine.done;
        if (leads) {
            led_ = true;
            leader_wanted_ = false;
        }
    }
    if (leads) {
        lead();
    }
    if (mine.thrown) {
        std::rethrow_exception(mine.thrown);
    }
    return std::move(mine.outcome);
}

/// Commits what has come, and hands over.
ENTITABLE_DECL void writer::lead() {
    {
        std::lock_guard const using_connection{leader_mutex_};
        {
            std::lock_guard const lock{queue_mutex_};
            claimed_.swap(queue_);
            ++generation_;
        }
#if ENTITABLE_HAS_EXCEPTIONS
        try {
            commit_claimed();
            keep_log_short();
        } catch (...) {
            on_.reset(); // which gives the transaction up
            for (waiting* const each : claimed_) {
                each->thrown = std::current_exception();
            }
            finish_all();
        }
#else
        commit_claimed();
        keep_log_short();
#endif
        lock_.unlock();
    }
    std::lock_guard const lock{queue_mutex_};
    if (queue_.empty()) {
        led_ = false;
    } else {
        leader_wanted_ = true;
        wake_[generation_ % 2].notify_one();
    }
}

ENTITABLE_DECL void writer::commit_claimed() {
    while (!claimed_.empty() && begin()) {
        std::int64_t bound = 0;
        bool known = false;
        { // the query ends before its connection may: what follows can give that up
            query read{*on_, sql::version_bound};
            known = read.step() == stepped::row;
            bound = known ? read.number(0) : 0;
            if (!known) {
                fail_all(on_->problem("the file cannot be read"));
            }
        }
        if (!known) {
            release();
            return;
        }
        commit_group group{*on_, versions_.last(bound)};
        bool any = false;
        if (waiting* const broken = run_jobs(group, any)) {
            release();
            finish(*broken);
            continue; // the others again, without it
        }
        if (any) {
            commit(group.last_version, bound);
        } else {
            release();
            finish_all();
        }
    }
}

/// Begins a transaction; false when nobody wants it any more.
ENTITABLE_DECL bool writer::begin() {
    for (;;) {
        auto begun = try_begin();
        if (!begun) {
            fail_all(std::move(begun).as_failure());
            return false;
        }
        if (*begun) {
            return true;
        }
        if (!wait_on()) {
            return false;
        }
    }
}

/// False when others write.
ENTITABLE_DECL result<bool> writer::try_begin() {
    if (auto same = place_.check(); !same) {
        return std::move(same).as_failure();
    }
    auto locked = lock_.try_lock();
    if (!locked || !*locked) {
        return locked;
    }
    if (auto opened = open_connection(); !opened) {
        lock_.unlock();
        if (opened.error().code == error_code::store_busy) {
            return false;
        }
        return std::move(opened).as_failure();
    }
    stepped const begun = on_->run(sql::begin_write);
    if (begun == stepped::done) {
        return true;
    }
    failure failed = on_->problem("the file cannot be written");
    release();
    if (begun == stepped::busy) {
        return false;
    }
    return failed;
}

/// Opens the connection again after an error has cost us the last one.
ENTITABLE_DECL result<void> writer::open_connection() {
    if (on_) {
        return {};
    }
    patience once{options_, steady_time::min()};
    auto opened = connection::open(place_, options_, once);
    if (!opened) {
        return std::move(opened).as_failure();
    }
    on_.emplace(*std::move(opened));
    on_->count_log_pages(log_pages_);
    return {};
}

/// Ends the waiting of those who have no time left; false when nobody else waits.
ENTITABLE_DECL bool writer::wait_on() {
    for (std::size_t index = claimed_.size(); index > 0; --index) {
        waiting& each = *claimed_[index - 1];
        if (each.waits.over()) {
            each.outcome = each.waits.given_up();
            finish(each);
        }
    }
    return !claimed_.empty() && (claimed_.front()->waits.wait() || !claimed_.empty());
}

/// Lets each job write. Returns the first that has to be taken back.
ENTITABLE_DECL writer::waiting* writer::run_jobs(commit_group& group, bool& any) {
    for (waiting* const each : claimed_) {
        each->end = job_end::broken;
#if ENTITABLE_HAS_EXCEPTIONS
        try {
            each->end = each->job(group);
        } catch (...) {
            each->thrown = std::current_exception();
        }
#else
        each->end = each->job(group);
#endif
        if (each->end == job_end::broken) {
            return each;
        }
        any = any || each->end == job_end::written;
    }
    return nullptr;
}

/// Ends the transaction and tells everybody.
ENTITABLE_DECL void writer::commit(std::int64_t version, std::int64_t bound_before) {
    std::int64_t const bound = versions_.bound_for(version, bound_before);
    if (bound != bound_before && query{*on_, sql::set_version_bound}.bind(1, bound).finish() != stepped::done) {
        fail_all(on_->problem("the file cannot be written"));
        release();
        return;
    }
    for (;;) {
        stepped const ended = on_->run(sql::commit);
        if (ended == stepped::done) {
            versions_.committed(version, bound_before, bound);
            finish_all();
            return;
        }
        if (ended == stepped::busy) { // of the rollback journal: readers are in the file, and everything is as it was
            bool const more_time = claimed_.front()->waits.wait();
            if (more_time) {
                continue;
            }
            fail_all(claimed_.front()->waits.given_up());
        } else {
            // The commit may be in the file or not; those who only read saw what may not be there.
            failure failed = on_->problem("the commit failed");
            for (waiting* const each : claimed_) {
                failed.error().effect = each->end == job_end::written ? effect::unknown : effect::none;
                each->outcome = failure{entitable::error{failed.error()}};
            }
            finish_all();
            versions_.forget();
            on_.reset();
        }
        release();
        return;
    }
}

/// Gives the transaction up, and the connection if it is broken.
ENTITABLE_DECL void writer::release() noexcept {
    if (on_) {
        on_->roll_back();
        if (on_->broken()) {
            on_.reset();
        }
    }
    lock_.unlock();
}

// ---- versions ---------------------------------------------------------------------------------------

ENTITABLE_DECL std::int64_t version_memory::bound_for(std::int64_t version, std::int64_t bound) const noexcept {
    if (version <= bound) {
        return bound;
    }
    if (bound != bound_) {
        return version;
    }
    std::int64_t const alone = version - first_;
    return version + (alone < date_time::ticks_per_second ? alone : date_time::ticks_per_second);
}

ENTITABLE_DECL void version_memory::committed(
    std::int64_t version, std::int64_t bound_before, std::int64_t bound) noexcept {
    if (bound_before != bound_) {
        if (bound == bound_before) {
            return; // only removals: the memory is still that of the others
        }
        first_ = version;
    }
    bound_ = bound;
    last_ = version;
}

ENTITABLE_DECL result<std::optional<std::int64_t>> commit_group::table_id(std::string_view key) {
    if (!known_table || known_table->key != key) {
        known_table.reset();
        query find{on, sql::find_table};
        stepped const found = find.bind(1, key).step();
        if (found == stepped::done) {
            return std::optional<std::int64_t>{};
        }
        if (found != stepped::row) {
            return on.problem("the file cannot be read");
        }
        known_table = table{std::string{key}, find.number(0)};
    }
    return std::optional{known_table->id};
}

// ---- answers ----------------------------------------------------------------------------------------

ENTITABLE_DECL void writer::finish(waiting& one) {
    claimed_.erase(std::find(claimed_.begin(), claimed_.end(), &one));
    std::lock_guard const lock{queue_mutex_};
    one.done = true;
    wake_[(generation_ - 1) % 2].notify_all();
}

ENTITABLE_DECL void writer::finish_all() {
    std::unique_lock lock{queue_mutex_};
    for (waiting* const each : claimed_) {
        each->done = true;
    }
    auto& wake = wake_[(generation_ - 1) % 2];
    lock.unlock();
    claimed_.clear();
    wake.notify_all();
}

ENTITABLE_DECL void writer::fail_all(failure why) {
    for (waiting* const each : claimed_) {
        each->outcome = failure{entitable::error{why.error()}};
    }
    finish_all();
}

// ---- the log ----------------------------------------------------------------------------------------

/// Behind a commit, with the writer lock: moves the log into the file when it has become long. What fails here has failed for
/// nobody, since all of it is in the log.
ENTITABLE_DECL void writer::keep_log_short() {
    if (!on_ || !lock_.usable()) {
        return;
    }
    std::size_t const every = options_.checkpoint_bytes / file_format::page_bytes + 1;
    if (log_pages_ < every) {
        checkpoint_at_ = every;
        return;
    }
    if (log_pages_ < checkpoint_at_) {
        return;
    }
    // As long as somebody reads, the log cannot begin anew. While this holds the lock, those who come read the file.
    bool const wait_for_readers = log_pages_ >= options_.log_bytes / file_format::page_bytes;
    patience waits{options_, options_.busy_timeout / 4};
    if (on_->checkpoint(wait_for_readers, wait_for_readers ? &waits : nullptr) && wait_for_readers) {
        log_pages_ = 0;
    }
    checkpoint_at_ = log_pages_ + every;
    if (on_->broken()) {
        on_.reset();
    }
}

ENTITABLE_DECL result<void> writer::checkpoint(steady_time until) {
    if (!place_.in_own_process()) {
        return opened_before_fork();
    }
    std::lock_guard const using_connection{leader_mutex_};
    patience waits{options_, until};
    for (;;) {
        if (auto same = place_.check(); !same) {
            return same;
        }
        auto locked = lock_.try_lock();
        if (!locked) {
            return std::move(locked).as_failure();
        }
        if (*locked) {
            break;
        }
        if (!waits.wait()) {
            return waits.given_up();
        }
    }
    auto done = open_connection();
    if (done) {
        done = on_->checkpoint(true, &waits);
        log_pages_ = done ? 0 : log_pages_;
    }
    release();
    return done;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
