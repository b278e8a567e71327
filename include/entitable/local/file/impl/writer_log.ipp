// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// The write-ahead log of a writer: whether it is still there, and when it moves into the file.

#include <entitable/core/try.hpp>
#include <entitable/local/file/impl/writer_queue.ipp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether the log that the connection writes is no longer the log next to the file, so that its content would be lost.
ENTITABLE_DECL bool writer::lost_log() {
    std::uint64_t const now = place_.log();
    if (log_ == 0) { log_ = now; }
    return now != log_;
}

/// After `lost_log`: whether the log that the connection still has open can be saved, because nothing was written to its replacement.
/// Otherwise pages of the two logs would be mixed.
ENTITABLE_DECL bool writer::has_last_log() { return place_.log_bytes() == 0; }

/// Moves the log into the file, which has space allocated, and restarts the log. Returns false if the restart does not free space.
ENTITABLE_DECL bool writer::win_room(waiting const& mine) {
    auto const opened = open_connection();
    if (!opened || !on_->write_ahead_log()) { return false; }
    wait_budget waits{options_, mine.context, options_.busy_timeout / 50};
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
    wait_budget waits{options_, mine.context, options_.busy_timeout / 4};
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
