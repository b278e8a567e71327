// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// The transaction of the claimed jobs: runs the jobs, commits, and settles a failed commit.

#include <entitable/local/file/detail/schema.hpp>
#include <entitable/local/file/impl/writer_queue.ipp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

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
        commit_outcome const became = lost ? commit_outcome::unknown : settle(counter);
        if (became == commit_outcome::applied) {
            release();
            finish_all();
            return ended::done;
        }
        if (became == commit_outcome::none && full) { return ended::full; }
        // If it is unknown whether the commit is in the file, jobs that only read may have seen uncommitted data.
        for (waiting* each = claimed_.first(); each != nullptr; each = each->next) {
            bool const unknown = became == commit_outcome::unknown && each->end == job_end::written;
            failed.error().effect = unknown ? effect::unknown : effect::none;
            each->outcome = failure{entitable::error{failed.error()}};
        }
        finish_all();
        if (became == commit_outcome::unknown) { on_.reset(); }
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
ENTITABLE_DECL writer::commit_outcome writer::settle(std::uint32_t counter_before) {
    bool const log = on_->write_ahead_log();
    std::optional<connection> failed = std::move(on_);
    on_.reset();
    if (failed->failed_before_end()) { return commit_outcome::none; }
    if (!log) { failed.reset(); }
    if (!open_connection() || on_->run(sql::begin_write) != stepped::done) {
        on_.reset();
        return commit_outcome::unknown;
    }
    bool const applied = !log && on_->change_counter() != counter_before;
    if (!log && !applied) {
        on_->roll_back();
        return commit_outcome::none;
    }
    bool const ours = log || lock_.usable(); // without the lock, other stores may have written
    if (!ours || on_->run(sql::raise_version_bound) != stepped::done || on_->run(sql::commit) != stepped::done) {
        on_.reset();
        return commit_outcome::unknown;
    }
    return applied ? commit_outcome::applied : commit_outcome::none;
}

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

} // namespace detail
ENTITABLE_END_NAMESPACE
