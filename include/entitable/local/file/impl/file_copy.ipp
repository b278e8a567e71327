// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/local/file/detail/new_file.hpp>
#include <entitable/local/file/detail/page_copy.hpp>
#include <entitable/local/file/impl/schema.ipp>
#include <entitable/local/file/sqlite_store.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Starts a read transaction, so that all reads see the same point in time.
ENTITABLE_DECL result<void> begin_snapshot(connection& on, wait_budget& waits) {
    for (;;) {
        stepped begun = on.run_text("BEGIN");
        begun = begun == stepped::done ? on.run_text("SELECT count(*) FROM sqlite_master") : begun;
        if (begun == stepped::done) { return {}; }
        if (begun == stepped::failed) { return on.problem("cannot copy the file"); }
        on.roll_back();
        if (!waits.wait()) { return waits.given_up(); }
    }
}

/// Waits until the speed limit is met; false if the call ends in the meantime.
ENTITABLE_DECL bool keep_pace(
    clock& time, wait_budget const& waits, steady_time begun, std::uint64_t bytes, std::uint64_t bytes_per_second) {
    if (bytes_per_second == 0) { return !waits.call_over(); }
    constexpr std::chrono::milliseconds between_questions{10};
    std::chrono::duration<double> const wanted{static_cast<double>(bytes) / static_cast<double>(bytes_per_second)};
    for (;;) {
        if (waits.call_over()) { return false; }
        steady_time const now = time.steady();
        std::chrono::duration<double> const left = wanted - (now - begun);
        if (left.count() <= 0) { return true; }
        auto const moment = std::chrono::duration_cast<steady_time::duration>(
            std::min<std::chrono::duration<double>>(left, between_questions));
        time.wait_until(now + (std::max)(moment, steady_time::duration{1}));
    }
}

/// Copies all pages.
ENTITABLE_DECL result<file_copy_progress> copy_file_pages(connection& from, page_copy& copy,
    file_copy_progress_callback watch, file_copy_options const& how, file_options const& options, call const& context) {
    constexpr std::uint64_t slices_a_sync = 8; // neither the deadline nor a writer waits long for the disk
    constexpr std::uint64_t most_restarts = 3;
    clock& time = *options.local.time;
    file_copy_progress done;
    std::uint64_t slices = 0;
    steady_time const begun = time.steady();
    wait_budget waits{options, context};
    for (;;) {
        stepped const now = copy.step();
        if (now == stepped::failed) { return copy.problem(); }
        if (now == stepped::busy) {
            if (!waits.wait()) { return waits.given_up(); }
            continue;
        }
        waits.begin_anew();
        ++slices;
        done = {copy.copied() * file_format::page_bytes, copy.pages() * file_format::page_bytes, copy.restarts()};
        watch(done);
        if (options.durability == durability::full && (now == stepped::done || slices % slices_a_sync == 0)) {
            ENTITABLE_CHECK(copy.sync());
        }
        std::uint64_t const copied = slices * page_copy::pages_at_once * file_format::page_bytes;
        if (now == stepped::done ? waits.call_over() : !keep_pace(time, waits, begun, copied, how.bytes_per_second)) {
            return waits.given_up();
        }
        if (now == stepped::done) { return done; }
        if (done.restarts >= most_restarts && !from.in_transaction()) { ENTITABLE_CHECK(begin_snapshot(from, waits)); }
    }
}

} // namespace detail

ENTITABLE_DECL result<file_copy_progress> sqlite_store::copy_to(
    std::string_view path, file_copy_progress_callback watch, file_copy_options const& how) {
    call const context{how.call, time()};
    detail::wait_budget waits{options_, context};
    if (waits.call_over()) { return waits.given_up(); }
    ENTITABLE_TRY(auto borrowed, readers_->open_another(waits));
    detail::connection* const from = &*borrowed;
    ENTITABLE_TRY(auto target, detail::new_file::make(path));
    ENTITABLE_TRY(auto to, detail::connection::open(target.passing_path(), options_, waits));
    auto const journal = detail::patiently(waits, [&] { return from->text_of("PRAGMA journal_mode"); });
    if (!journal) { return failure{journal.error()}; }
    // With a log this does not block other stores. With a rollback journal it would block each commit for the whole time.
    if (auto begun = *journal == "wal" ? detail::begin_snapshot(*from, waits) : result<void>{}; !begun) {
        return std::move(begun).as_failure();
    }
    ENTITABLE_CHECK(readers_->check_file());
    auto copied = [&]() -> result<file_copy_progress> {
        detail::writer::long_log const grows{*writer_};
        detail::page_copy copy{*from, to};
        ENTITABLE_CHECK(copy.begin());
        auto done = detail::copy_file_pages(*from, copy, watch, how, options_, context);
        if (auto whole = done ? copy.finish() : result<void>{}; !whole) { return std::move(whole).as_failure(); }
        return done;
    }();
    ENTITABLE_CHECK(borrowed.still());
    if (!copied) { return copied; }
    { detail::connection const closed = std::move(to); } // closes the copy before it gets its final name
    ENTITABLE_CHECK(target.publish(copied->total, options_.durability == durability::full));
    return copied;
}

ENTITABLE_END_NAMESPACE
