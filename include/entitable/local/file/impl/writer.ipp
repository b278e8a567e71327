// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/local/file/detail/quiet_read.hpp>
#include <entitable/local/file/detail/schema.hpp>
#include <entitable/local/file/detail/writer.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A job, or a checkpoint, and the thread that waits for it.
struct writer::waiting {
    write_job const* job; ///< null for a checkpoint
    call const& context;
    patience waits;
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
    waiting mine{job, context, patience{options_, context}};
    await(mine);
    if (mine.thrown) { std::rethrow_exception(mine.thrown); }
    return std::move(mine.outcome);
}

// ---- the queue --------------------------------------------------------------------------------------

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

// ---- the leader -------------------------------------------------------------------------------------

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

/// Moves the log into the file, which has space allocated, and restarts the log. Returns false if the restart does not free space.
ENTITABLE_DECL bool writer::win_room(waiting const& mine) {
    auto const opened = open_connection();
    if (!opened || !on_->write_ahead_log()) { return false; }
    patience waits{options_, mine.context, options_.busy_timeout / 50};
    auto moved = on_->checkpoint(true);
    while (!moved && moved.error().code == error_code::store_busy && waits.wait()) { // another store is reading
        moved = on_->checkpoint(true);
    }
    if (moved) {
        log_pages_ = 0;
        on_->allocate_log(options_.reserve_bytes);
    }
    give_up();
    return moved.has_value();
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

/// Whether the log that the connection writes is no longer the log next to the file, so that its content would be lost.
ENTITABLE_DECL bool writer::lost_log() {
    std::uint64_t const now = place_.log();
    if (log_ == 0) { log_ = now; }
    return now != log_;
}

/// After `lost_log`: whether the log that the connection still has open can be saved, because nothing was written to its replacement.
/// Otherwise pages of the two logs would be mixed.
ENTITABLE_DECL bool writer::has_last_log() { return place_.log_bytes() == 0; }

/// Opens the connection again after an error, or the removal of its log, has closed it.
ENTITABLE_DECL result<void> writer::open_connection() {
    if (on_ && lost_log()) {
        if (has_last_log()) { static_cast<void>(on_->checkpoint(true)); }
        on_.reset();
        versions_.forget();
    }
    if (on_) { return {}; }
    call const none;
    patience once{options_, none, std::chrono::nanoseconds{0}};
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

/// Runs each job. Returns the first job whose changes must be undone.
ENTITABLE_DECL writer::waiting* writer::run_jobs(commit_group& group, bool& any) {
    for (waiting* each = claimed_.first(); each != nullptr; each = each->next) {
        each->end = job_end::broken;
#if ENTITABLE_HAS_EXCEPTIONS
        try {
            each->end = (*each->job)(group);
        } catch (...) { each->thrown = std::current_exception(); }
#else
        each->end = (*each->job)(group);
#endif
        if (each->end == job_end::broken) { return each; }
        any = any || each->end == job_end::written;
    }
    return nullptr;
}

/// Commits the transaction and reports to all waiting threads; or rolls it back, to try again without jobs whose time is over, or because
/// there is no space.
ENTITABLE_DECL writer::ended writer::commit(waiting& mine, commit_group const& group, std::int64_t bound_before) {
    std::int64_t const version = group.last_version;
    std::int64_t const bound = versions_.bound_for(version, bound_before);
    if (bound != bound_before && statement{*on_, sql::set_version_bound}.bind(1, bound).finish() != stepped::done) {
        if (on_->out_of_room()) {
            give_up();
            return ended::full;
        }
        fail_all(on_->problem("cannot write the file"));
        release();
        return ended::again;
    }
    if (!on_->allocate(group.growth, options_.reserve_bytes)) {
        give_up();
        return ended::full;
    }
    std::uint32_t const counter = on_->write_ahead_log() ? 0 : on_->change_counter();
    for (;;) {
        stepped const end = on_->run(sql::commit);
        bool const lost = end == stepped::done && lost_log();
        if (end == stepped::done && !lost) {
            stalled(false);
            versions_.committed(version, bound_before, bound);
            finish_all();
            return ended::done;
        }
        if (end == stepped::busy) { // with the rollback journal: readers hold the file, and nothing has changed
            if (wait_on(mine)) { continue; }
            release();
            return ended::again;
        }
        failure failed = lost
            ? failure{error_code::store_failed, "the log of the file was removed or replaced during the commit"}
            : on_->problem("the commit failed");
        bool const full = !lost && on_->out_of_room();
        versions_.forget();
        fate const became = lost ? fate::unknown : settle(counter);
        if (became == fate::applied) {
            release();
            finish_all();
            return ended::done;
        }
        if (became == fate::none && full) { return ended::full; }
        // If it is unknown whether the commit is in the file, jobs that only read may have seen uncommitted data.
        for (waiting* each = claimed_.first(); each != nullptr; each = each->next) {
            bool const unknown = became == fate::unknown && each->end == job_end::written;
            failed.error().effect = unknown ? effect::unknown : effect::none;
            each->outcome = failure{entitable::error{failed.error()}};
        }
        finish_all();
        if (became == fate::unknown) { on_.reset(); }
        release();
        return ended::again;
    }
}

/// Determines the outcome of a failed commit, with the writer lock, so that no other store has written since.
///
/// With a log no connection sees a failed commit, because the log's index, which the connections share, does not contain it. But the pages
/// of the commit may be in the log, and may be found when the index is rebuilt. The old connection therefore stays open until a small
/// commit has overwritten the first of these pages. That is not needed if the end of the commit was not written.
///
/// With a rollback journal the file is recovered when it is opened, and its counter identifies the state. If that includes the commit,
/// another commit ensures that it stays, whatever happened to the journal.
ENTITABLE_DECL writer::fate writer::settle(std::uint32_t counter_before) {
    bool const log = on_->write_ahead_log();
    std::optional<connection> failed = std::move(on_);
    on_.reset();
    if (failed->failed_before_end()) { return fate::none; }
    if (!log) { failed.reset(); }
    if (!open_connection() || on_->run(sql::begin_write) != stepped::done) {
        on_.reset();
        return fate::unknown;
    }
    bool const applied = !log && on_->change_counter() != counter_before;
    if (!log && !applied) {
        on_->roll_back();
        return fate::none;
    }
    bool const ours = log || lock_.usable(); // without the lock, other stores may have written
    if (!ours || on_->run(sql::raise_version_bound) != stepped::done || on_->run(sql::commit) != stepped::done) {
        on_.reset();
        return fate::unknown;
    }
    return applied ? fate::applied : fate::none;
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

// ---- versions ---------------------------------------------------------------------------------------

ENTITABLE_DECL std::int64_t version_memory::bound_for(std::int64_t version, std::int64_t bound) const noexcept {
    if (version <= bound) { return bound; }
    if (bound != bound_) { return version; }
    std::int64_t const alone = version - first_;
    return version + (alone < date_time::ticks_per_second ? alone : date_time::ticks_per_second);
}

ENTITABLE_DECL void version_memory::committed(
    std::int64_t version, std::int64_t bound_before, std::int64_t bound) noexcept {
    if (bound_before != bound_) {
        if (bound == bound_before) {
            return; // only removals were committed: the cached version is still that of the other store
        }
        first_ = version;
    }
    bound_ = bound;
    last_ = version;
}

ENTITABLE_DECL result<std::optional<std::int64_t>> commit_group::table_id(std::string_view key) {
    if (!known_table || known_table->key != key) {
        known_table.reset();
        statement find{on, sql::find_table};
        stepped const found = find.bind(1, key).step();
        if (found == stepped::done) { return std::optional<std::int64_t>{}; }
        if (found != stepped::row) { return on.problem("cannot read the file"); }
        known_table = table{std::string{key}, find.number(0)};
    }
    return std::optional{known_table->id};
}

// ---- results ----------------------------------------------------------------------------------------

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

// ---- the log ----------------------------------------------------------------------------------------

/// After a commit, with the writer lock: moves the log into the file if it has become long. A failure here affects no job, since all
/// changes are in the log.
ENTITABLE_DECL void writer::keep_log_short(waiting const& mine) {
    if (!on_ || !lock_.usable()) { return; }
    std::size_t const every = options_.checkpoint_bytes / file_format::page_bytes + 1;
    if (log_pages_ < every) {
        checkpoint_at_ = every;
        return;
    }
    if (log_pages_ < checkpoint_at_) { return; }
    // The log cannot restart while it is being read. While this holds the lock, new readers read the file. The leading call waits no longer
    // than it would wait for its own commit.
    bool const wait_for_readers = long_logs_ == 0 && log_pages_ >= options_.log_bytes / file_format::page_bytes;
    patience waits{options_, mine.context, options_.busy_timeout / 4};
    auto moved = on_->checkpoint(wait_for_readers);
    while (!moved && moved.error().code == error_code::store_busy && wait_for_readers && waits.wait()) {
        moved = on_->checkpoint(true);
    }
    if (moved && wait_for_readers) {
        log_pages_ = 0;
        on_->allocate_log(options_.reserve_bytes);
    }
    checkpoint_at_ = log_pages_ + every;
    if (on_->broken()) { on_.reset(); }
}

/// Runs a checkpoint requested by a caller.
ENTITABLE_DECL void writer::move_log(waiting& mine) {
    for (;;) {
        auto moved = [&]() -> result<bool> {
            ENTITABLE_CHECK(place_.same_file());
            if (auto locked = lock_.try_lock(); !locked || !*locked) { return locked; }
            ENTITABLE_CHECK(open_connection());
            auto done = on_->checkpoint(true);
            if (done) { on_->allocate_log(options_.reserve_bytes); }
            return done ? result<bool>{true} : std::move(done).as_failure();
        }();
        if (moved ? *moved : moved.error().code != error_code::store_busy) {
            stalled(false);
            log_pages_ = moved ? 0 : log_pages_;
            release();
            mine.outcome = moved ? result<void>{} : std::move(moved).as_failure();
            finish(mine);
            return;
        }
        if (!wait_on(mine)) {
            release();
            return;
        }
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
