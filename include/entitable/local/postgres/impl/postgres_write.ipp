// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Writes of one row, each in one statement, and the outcome of a write whose response was lost.

#include <entitable/core/row/format.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/postgres/detail/pg_key.hpp>
#include <entitable/local/postgres/postgres_store.hpp>

ENTITABLE_BEGIN_NAMESPACE

namespace detail {

/// FNV-1a of one more part of a name, and of its size.
inline std::uint64_t add_to_pg_lock(std::uint64_t hash, std::string_view part) noexcept {
    for (char const each : part) { hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3U; }
    return (hash ^ part.size()) * 0x100000001b3U;
}

/// The lock of a row continues the hash of its partition.
inline std::int64_t pg_row_lock(std::int64_t partition_lock, std::string_view row) noexcept {
    return static_cast<std::int64_t>(add_to_pg_lock(static_cast<std::uint64_t>(partition_lock), row));
}

} // namespace detail

/// A write of one row, in the forms that statements take, and what was known before it was sent.
struct postgres_store::lone_write {
    row_write change;
    std::string_view table;
    std::string partition;
    std::string row;
    std::string bytes; ///< has a number unique to this write instead of the Timestamp
    std::int64_t partition_lock{};
    std::int64_t version_before{};
    std::int64_t removals_before{};
    detail::pg_statement statement{}; ///< the statement that was sent last
};

/// FNV-1a over the schema and the keys. Two keys with the same number wait for each other, which is harmless.
ENTITABLE_DECL std::int64_t postgres_store::lock_of(std::string_view table, std::string_view partition) const noexcept {
    std::uint64_t const schema = detail::add_to_pg_lock(0xcbf29ce484222325U, pool_->options().schema);
    return static_cast<std::int64_t>(detail::add_to_pg_lock(detail::add_to_pg_lock(schema, table), partition));
}

/// Records the greatest version and number of removals in responses, for `judge`.
ENTITABLE_DECL void postgres_store::note(std::int64_t version, std::int64_t removals) noexcept {
    auto const raise = [](atomic<std::int64_t>& kept, std::int64_t to) {
        for (std::int64_t known = kept.load(memory_order::relaxed);
            known < to && !kept.compare_exchange_weak(known, to, memory_order::relaxed, memory_order::relaxed);) {}
    };
    raise(version_seen_, version);
    raise(removals_seen_, removals);
}

/// Queues the statement of a write. The sequences only grow, so they are near the clock if a response has named a version that is: then no
/// statement has to look at the clock. An insert finds a row rarely; after one that did, `insert` expects further ones.
ENTITABLE_DECL void postgres_store::send(detail::pg_connection& on, lone_write& sent) {
    using detail::pg_number;
    using detail::pg_statement;
    constexpr std::int64_t nearest = 10'000; // a millisecond, as in the statements
    sent.version_before = version_seen_.load(memory_order::relaxed);
    sent.removals_before = removals_seen_.load(memory_order::relaxed);
    std::int64_t const ticks = on.now();
    bool on_time = ticks - nearest <= sent.version_before;
    pg_number const now{ticks};
    auto const partition_lock = [&] { return pg_number{sent.partition_lock}; };
    auto const row_lock = [&] { return pg_number{detail::pg_row_lock(sent.partition_lock, sent.row)}; };
    pg_number const required{sent.change.version.value_or(-1)};
    auto const choose = [&](pg_statement late) {
        sent.statement = on_time ? static_cast<pg_statement>(static_cast<std::uint8_t>(late) + 1) : late;
        return sent.statement;
    };
    switch (sent.change.kind) {
        case row_write::change::insert:
            if (auto const expected = rows_expected_.load(memory_order::relaxed); on_time && expected > 0) {
                rows_expected_.store(expected - 1, memory_order::relaxed);
                on_time = false;
            }
            [[fallthrough]];
        case row_write::change::put:
            if (choose(sent.change.kind == row_write::change::insert ? pg_statement::insert : pg_statement::upsert);
                on_time) {
                on.send(
                    sent.statement, {sent.table, sent.partition, sent.row, sent.bytes, partition_lock(), row_lock()});
            } else {
                on.send(sent.statement,
                    {sent.table, sent.partition, sent.row, sent.bytes, now, partition_lock(), row_lock()});
            }
            break;
        case row_write::change::replace:
            if (choose(pg_statement::replace); on_time) {
                on.send(sent.statement, {sent.table, sent.partition, sent.row, sent.bytes, required});
            } else {
                on.send(sent.statement, {sent.table, sent.partition, sent.row, sent.bytes, now, required});
            }
            break;
        case row_write::change::erase:
            sent.statement = pg_statement::remove;
            on.send(sent.statement, {sent.table, sent.partition, sent.row, required, partition_lock(), row_lock()});
            break;
    }
}

/// The outcome of a write that got a response without a row.
ENTITABLE_DECL result<row_written> postgres_store::not_written(
    detail::pg_connection& on, lone_write const& sent, call const& context, bool& again) {
    using detail::pg_statement;
    row_written done;
    if (sent.statement == pg_statement::insert) {
        done.met = row_written::outcome::differs;
        return done;
    }
    if (sent.change.kind == row_write::change::insert || sent.change.kind == row_write::change::put) {
        done.met = row_written::outcome::no_table;
        return done;
    }
    on.send(pg_statement::look, {sent.table, sent.partition, sent.row});
    ENTITABLE_TRY(auto const looked, on.run(context));
    detail::pg_rows const& found = looked.back();
    bool const exists = found.size() > 0 && !found.is_null(0, 0);
    done.met = found.size() == 0 ? row_written::outcome::no_table
        : exists                 ? row_written::outcome::differs
                                 : row_written::outcome::no_row;
    // It appeared in between: the write is made again.
    again = exists && (!sent.change.version || *sent.change.version == found.number(0, 0));
    return done;
}

/// The outcome of a write whose statement failed, or got no response.
ENTITABLE_DECL result<row_written> postgres_store::failed_write(
    detail::pg_pool::borrowed& on, lone_write const& sent, failure why, call const& context, bool& again) {
    using detail::pg_statement;
    if (on->broken()) {
        bool const fresh = on.fresh();
        auto done = trace(on, sent, std::move(why), context);
        again =
            !done && done.error().effect == effect::none && !fresh && done.error().code == error_code::transport_failed;
        return done;
    }
    if (on->abandoned()) { // its session serves other calls, so the write cannot be stopped
        why.error().effect = effect::unknown;
        return why;
    }
    row_written done;
    if (sent.statement == pg_statement::insert && on->state() == "23502") {
        done.met = row_written::outcome::no_table;
        return done;
    }
    if (sent.statement == pg_statement::insert_on_time && on->key_exists()) {
        constexpr std::uint32_t next_inserts =
            64; // a refused row costs the server more than a row that is looked for, and is logged
        rows_expected_.store(next_inserts, memory_order::relaxed);
        done.met = row_written::outcome::differs;
        return done;
    }
    again = on->skipped() || on->state() == "40001" || on->state() == "40P01";
    return why;
}

ENTITABLE_DECL result<row_written> postgres_store::write_row(std::string_view table, std::string_view partition,
    std::string_view row, row_write const& change, call const& context) {
    lone_write sent{change, table, {}, {}, std::string{change.bytes}};
    if (!detail::append_utf16_key(partition, sent.partition) || !detail::append_utf16_key(row, sent.row)) {
        return failure{error_code::invalid_input, "keys must be valid UTF-8"};
    }
    if (sent.bytes.size() >= row_format::header_size) {
        row_format::store(sent.bytes.data() + row_format::timestamp_offset, static_cast<std::int64_t>(tokens_.bits()));
    }
    sent.partition_lock = lock_of(table, sent.partition);
    for (unsigned tries = 0;; ++tries) {
        ENTITABLE_TRY(auto on, pool_->borrow_place(detail::pg_lane_use::write, sent.partition_lock, context));
        if (!on.fresh() && on->hung_up()) {
            pool_->forget_idle();
            continue;
        }
        ENTITABLE_CHECK(on->may_write());
        if (tries == 0 && change.kind == row_write::change::insert && on->in_lane()) {
            if (auto done = insert_with_others(on, sent, context)) { return *std::move(done); }
            ENTITABLE_CHECK(check_call(context, time()));
            if (!on.held()) { continue; }
        }
        set_timeout(*on, context);
        send(*on, sent);
        auto answers = on->run(context);
        result<row_written> done = row_written{};
        bool again = false;
        if (!answers) {
            done = failed_write(on, sent, std::move(answers).as_failure(), context, again);
        } else if (detail::pg_rows const& made = answers->back(); made.size() > 0) {
            if (on->unreplicated()) { return unreplicated(); }
            bool const removes = sent.statement == detail::pg_statement::remove;
            done->version = removes ? 0 : made.number(0, 0);
            note(done->version,
                removes                                              ? made.number(0, 0)
                    : sent.statement == detail::pg_statement::insert ? made.number(0, 1)
                                                                     : 0);
        } else {
            done = not_written(*on, sent, context, again);
        }
        if (!again || tries >= 100) { return done; }
        ENTITABLE_CHECK(check_call(context, time()));
        on.give_back();
        if (tries > 2) { detail::pg_sleep(std::chrono::milliseconds{tries}); }
    }
}

/// Inserts in one statement with the inserts that other calls of the channel make at the same time. Returns nothing if the row has to be inserted
/// alone.
ENTITABLE_DECL std::optional<result<row_written>> postgres_store::insert_with_others(
    detail::pg_pool::borrowed& on, lone_write& sent, call const& context) {
    if (rows_expected_.load(memory_order::relaxed) > 0) { return std::nullopt; }
    sent.version_before = version_seen_.load(memory_order::relaxed);
    sent.removals_before = removals_seen_.load(memory_order::relaxed);
    sent.statement = detail::pg_statement::insert_many;
    result<std::int64_t> version = std::int64_t{0};
    if (!on->insert_in_group(sent.table, sent.partition, sent.row, sent.bytes, sent.partition_lock,
            detail::pg_row_lock(sent.partition_lock, sent.row), context, version)) {
        return std::nullopt;
    }
    if (!version) {
        bool again = false;
        auto done = failed_write(on, sent, std::move(version).as_failure(), context, again);
        if (again) {
            on.give_back();
            return std::nullopt;
        }
        return done;
    }
    if (on->unreplicated()) { return result<row_written>{unreplicated()}; }
    note(*version, 0);
    return result<row_written>{row_written{row_written::outcome::done, *version}};
}

/// Concludes from a read of a row whether a write of the row was applied. The value contains a number unique to the
/// write. Versions and the number of removals only increase: if the row has a version that was known before the write, or is missing
/// although nothing was removed, the write was not applied.
ENTITABLE_DECL postgres_store::write_outcome postgres_store::judge(
    detail::pg_rows const& traced, lone_write const& sent, bool ended) {
    if (traced.size() == 0) { return ended ? write_outcome::unknown : write_outcome::open; }
    bool const exists = !traced.is_null(0, 0);
    std::string_view const token{sent.bytes.data() + row_format::timestamp_offset,
        sent.bytes.size() >= row_format::header_size ? sizeof(std::int64_t) : 0};
    if (exists && !token.empty() && traced.bytes(0, 1) == token) { return write_outcome::applied; }
    if (!ended) { return write_outcome::open; }
    bool const unwritten = exists
        ? traced.number(0, 0) <= sent.version_before || sent.change.version == traced.number(0, 0)
        : sent.removals_before != 0 && traced.number(0, 2) == sent.removals_before;
    return unwritten ? write_outcome::not_applied : write_outcome::unknown;
}

/// Determines the outcome of a write of one row without a response. Before the write counts as not applied, its session is ended, so that
/// it cannot be applied later.
ENTITABLE_DECL result<row_written> postgres_store::trace(
    detail::pg_pool::borrowed& on, lone_write const& sent, failure why, call const& context) {
    bool const warned = on->unreplicated();
    detail::pg_number const session{on->session()};
    std::int64_t version = 0;
    auto const found = ask_elsewhere(on, context, [&](detail::pg_pool::borrowed& other, detail::pg_wait const& until) {
        for (bool const ended : {false, true}) {
            if (ended) { // the order matters: the next statement sees all transactions of an ended session
                other->send(detail::pg_statement::end_session, {session});
                if (!other->run(until)) { return write_outcome::open; }
                other->send(detail::pg_statement::has_session, {session});
            }
            other->send(detail::pg_statement::trace, {sent.table, sent.partition, sent.row});
            auto said = other->run(until);
            if (!said || (ended && said->front().size() > 0)) { return write_outcome::open; }
            detail::pg_rows const& traced = said->back();
            write_outcome const told = judge(traced, sent, ended);
            if (told == write_outcome::applied) {
                version = traced.number(0, 0);
                return (traced.flag(0, 3) ? confirm(other, until) : !warned) ? write_outcome::applied
                                                                             : write_outcome::unknown;
            }
            if (told != write_outcome::open) { return told; }
        }
        return write_outcome::open;
    });
    if (found == write_outcome::applied) { return row_written{row_written::outcome::done, version}; }
    if (found != write_outcome::not_applied) { why.error().effect = effect::unknown; }
    return why;
}

ENTITABLE_END_NAMESPACE
