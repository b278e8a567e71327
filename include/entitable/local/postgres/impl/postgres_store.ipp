// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/format.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/transport.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/detail/page_reader.hpp>
#include <entitable/local/postgres/detail/pg_key.hpp>
#include <entitable/local/postgres/detail/pg_view.hpp>
#include <entitable/local/postgres/postgres_store.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE

/// The input of an update, in the forms that statements take.
struct postgres_store::question {
    std::string_view table;
    std::string partition;
    std::vector<std::string> rows; ///< keys of the rows that are read with the lock
    std::string row_array;         ///< the same, as a parameter
    std::int64_t lock;             ///< number of the partition's lock
    function_ref<bool(transaction&)> body;
    bool inserts_read{}; ///< rows that the body inserts are among those above, because one of them exists
};

ENTITABLE_DECL result<postgres_store::opened_database> postgres_store::open(
    std::string_view connection_string, postgres_options const& options) {
    ENTITABLE_TRY(auto target, detail::pg_target::parse(connection_string));
    auto made = std::make_unique<detail::pg_pool>(std::move(target), options);
    call const unhurried;
    ENTITABLE_CHECK(made->open_first(unhurried));
    return made;
}

ENTITABLE_DECL result<void> postgres_store::migrate(
    std::string_view connection_string, postgres_options const& options) {
    postgres_options existing = options;
    existing.create = false;
    ENTITABLE_TRY(auto const opened, open(connection_string, existing));
    call const unhurried;
    ENTITABLE_TRY(auto on, opened->borrow(unhurried));
    return on->migrate({unhurried, *options.local.time, no_timeout});
}

ENTITABLE_DECL result<void> postgres_store::create_view(
    std::string_view view, std::string_view table, std::span<stored_property const> columns, call const& context) {
    ENTITABLE_CHECK(detail::check_pg_view(view, table, columns));
    ENTITABLE_CHECK(check_call(context, time())); // a fast server answers before the wait sees the deadline
    std::string const key = pool_->options().local.limits.table_names_without_case
        ? std::string{detail::stored_key{detail::stored_key::folded, table}}
        : std::string{table};
    ENTITABLE_TRY(auto on, pool_->borrow(context));
    ENTITABLE_CHECK(on->may_write());
    return on->with_texts(
        {context, time(), pool_->options().longest_wait}, [&](detail::pg_connection::run_text_function run) {
            return detail::make_pg_view(pool_->options().schema, view, key, columns, run);
        });
}

/// Sent before the first statement of a transaction. The server stops with the call, so that its response keeps the connection reusable.
ENTITABLE_DECL void postgres_store::set_timeout(detail::pg_connection& on, call const& context) const {
    if (context.deadline == no_deadline) { return; }
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(context.deadline - time().steady());
    auto const most = std::chrono::duration_cast<std::chrono::milliseconds>(pool_->options().longest_wait);
    if (left < most) {
        // Slightly longer than the call has left, so that the deadline has also passed here when the server stops.
        auto const later = left + std::chrono::milliseconds{5};
        on.send(detail::pg_statement::set_timeout, {detail::pg_number{detail::pg_longest_statement(later)}});
    }
}

// ---- tables -----------------------------------------------------------------------------------------

/// A connection may have been cut while idle: then nothing was applied, and the call starts over on a new connection.
ENTITABLE_DECL bool postgres_store::is_stale(detail::pg_pool::borrowed& on, error const& why) {
    bool const stale = on->broken() && !on.fresh() && why.code == error_code::transport_failed;
    if (stale) { pool_->forget_idle(); }
    return stale;
}

ENTITABLE_DECL result<bool> postgres_store::create_table(
    std::string_view key, std::string_view shown_name, call const& context) {
    for (;;) {
        ENTITABLE_TRY(auto on, pool_->borrow(context));
        ENTITABLE_CHECK(on->may_write());
        on->send(detail::pg_statement::begin);
        set_timeout(*on, context);
        on->send(detail::pg_statement::add_table, {key, shown_name});
        auto added = on->run(context);
        if (!added) {
            if (is_stale(on, added.error())) { continue; }
            return std::move(added).as_failure();
        }
        if (added->back().size() == 0) {
            on->roll_back(context);
            return false;
        }
        auto done = commit(on, context);
        return done ? result<bool>{true} : std::move(done).as_failure();
    }
}

ENTITABLE_DECL result<bool> postgres_store::drop_table(std::string_view key, call const& context) {
    for (;;) {
        ENTITABLE_TRY(auto on, pool_->borrow(context));
        detail::pg_connection& to = *on;
        ENTITABLE_CHECK(to.may_write());
        to.send(detail::pg_statement::begin);
        set_timeout(to, context);
        to.send(detail::pg_statement::hold_table, {key});
        auto held = to.run(context);
        if (!held) {
            if (is_stale(on, held.error())) { continue; }
            return std::move(held).as_failure();
        }
        if (held->back().size() == 0) {
            to.roll_back(context);
            return false;
        }
        detail::pg_number const id{static_cast<std::int32_t>(held->back().number(0, 0))};
        for (auto const each : {detail::pg_statement::lock_table, detail::pg_statement::forget_table,
                 detail::pg_statement::remove_table}) {
            to.send(each, {id});
        }
        ENTITABLE_CHECK(commit(on, context));
        on.give_back();
        purge(context); // the table is removed; the space of its rows can be freed later
        return true;
    }
}

/// Removes the rows of dropped tables, as long as the call permits. A write that began before a table was dropped may add a row to it after
/// that: a table is forgotten once no such write is left.
ENTITABLE_DECL void postgres_store::purge(call const& context) {
    auto on = pool_->borrow(context);
    std::int32_t before = 0;
    while (on && check_call(context, time())) {
        detail::pg_connection& to = **on;
        to.send(detail::pg_statement::forgotten, {detail::pg_number{before}});
        auto next = to.run(context);
        if (!next || next->back().size() == 0) { return; }
        bool const complete = next->back().flag(0, 1);
        auto const table = static_cast<std::int32_t>(next->back().number(0, 0));
        detail::pg_number const id{table};
        to.send(detail::pg_statement::purge_rows, {id});
        auto gone = to.run(context);
        if (!gone) { return; }
        if (gone->back().size() > 0) { continue; }
        if (complete) {
            to.send(detail::pg_statement::purged, {id});
            if (!to.run(context)) { return; }
        }
        before = table;
    }
}

// ---- updates ----------------------------------------------------------------------------------------

ENTITABLE_DECL result<lookup> postgres_store::update(
    std::string_view table, std::string_view partition, function_ref<bool(transaction&)> body, call const& context) {
    return update_rows(table, partition, [](function_ref<void(std::string_view)>) {}, body, context);
}

ENTITABLE_DECL result<lookup> postgres_store::update_rows(std::string_view table, std::string_view partition,
    rows_ahead rows, function_ref<bool(transaction&)> body, call const& context) {
    question asked{table, {}, {}, {}, 0, body};
    if (!detail::append_utf16_key(partition, asked.partition)) {
        return failure{error_code::invalid_input, "the partition key must be valid UTF-8"};
    }
    asked.lock = lock_of(table, asked.partition);
    detail::pg_array array;
    rows([&](std::string_view row) {
        std::string key;
        if (detail::append_utf16_key(row, key)) {
            array.add(key);
            asked.rows.push_back(std::move(key));
        }
    });
    asked.row_array = array.finish();
    for (unsigned tries = 0;; ++tries) {
        ENTITABLE_TRY(auto on, pool_->borrow(context));
        bool again = false;
        auto outcome = try_update(on, asked, context, again);
        if (!again || tries >= 100) { return outcome; }
        ENTITABLE_CHECK(check_call(context, time()));
        on.give_back();
        if (tries > 2) { // lets conflicting updates finish
            detail::pg_sleep(std::chrono::milliseconds{tries});
        }
    }
}

/// `again`: nothing was applied, and another try may succeed.
ENTITABLE_DECL result<lookup> postgres_store::try_update(
    detail::pg_pool::borrowed& on, question& asked, call const& context, bool& again) {
    auto const worth = [&](failure& why) {
        return is_stale(on, why.error()) || (!on->broken() && (on->state() == "40001" || on->state() == "40P01"));
    };
    ENTITABLE_CHECK(on->may_write());
    on->send(detail::pg_statement::begin);
    set_timeout(*on, context);
    on->send(detail::pg_statement::lock_partition, {asked.table, detail::pg_number{asked.lock}});
    if (!asked.rows.empty()) {
        on->send(detail::pg_statement::read_rows, {asked.table, asked.partition, asked.row_array});
    }
    on->send(detail::pg_statement::draw, {asked.table, detail::pg_number{time().now().ticks}});
    auto locked = on->run(context);
    if (!locked) {
        failure why = std::move(locked).as_failure();
        again = worth(why);
        return why;
    }
    struct guard { // for exceptions of the body
        detail::pg_pool::borrowed& on;
        call const& context;
        ~guard() {
            if (on.held()) { // false if the connection was given back after a lost commit
                on->roll_back(context);
            }
        }
    } const rolls_back{on, context};
    if (locked->back().size() == 0) { return lookup::no_table; }
    detail::pg_rows const none;
    transaction rows{*on, asked, locked->back(), asked.rows.empty() ? none : (*locked)[locked->size() - 2], context};
    bool const wanted = asked.body(rows);
    if (!rows.problem_) {
        failure why = std::move(rows.problem_).as_failure();
        again = worth(why);
        return why;
    }
    if (!wanted && rows.has_new()) { // the body may have stopped after an insert of a row that exists
        again = true;
        read_inserts(asked, rows);
        return lookup::absent;
    }
    if (!wanted || rows.changes_.empty()) { return wanted ? lookup::found : lookup::absent; }
    rows.send();
    on->send(detail::pg_statement::commit);
    auto committed = on->run(context);
    if (!committed) {
        failure why = std::move(committed).as_failure();
        if (on->broken()) {
            auto settled = settle(on, rows, std::move(why), context);
            again = !settled && settled.error().effect == effect::none && !on.fresh();
            return settled;
        }
        again = worth(why);
        if (on->key_exists() && !asked.inserts_read) {
            again = true;
            read_inserts(asked, rows);
        }
        return why;
    }
    if (committed->back().command() != "COMMIT") {
        return failure{error_code::store_failed, "the database rolled back the transaction"};
    }
    if (on->unreplicated()) { return unreplicated(); }
    note(rows.drawn_, 0);
    return lookup::found;
}

/// A row that was inserted exists: the next try reads all of them, and inserts as it puts.
ENTITABLE_DECL void postgres_store::read_inserts(question& asked, transaction const& rows) {
    asked.inserts_read = true;
    for (transaction::change const& each : rows.changes_) {
        if (each.is_new) { asked.rows.push_back(each.row); }
    }
    detail::pg_array array;
    for (std::string const& each : asked.rows) { array.add(each); }
    asked.row_array = array.finish();
}

// ---- in an update -----------------------------------------------------------------------------------

ENTITABLE_DECL postgres_store::transaction::transaction(detail::pg_connection& on, question const& asked,
    detail::pg_rows const& drawn, detail::pg_rows const& found, call const& context)
    : on_(on),
      asked_(asked),
      found_(found),
      context_(context),
      table_(static_cast<std::int32_t>(drawn.number(0, 0))),
      number_(drawn.number(0, 1)),
      drawn_(drawn.number(0, 2)) {}

/// Reads and locks a row that was not requested. Its version may be later than the drawn version, so a new version is drawn.
ENTITABLE_DECL void postgres_store::transaction::read_now(std::string const& key, row_visitor visit, bool& exists) {
    on_.send(detail::pg_statement::read_row, {detail::pg_number{table_}, asked_.partition, key});
    on_.send(detail::pg_statement::draw, {asked_.table, detail::pg_number{on_.now()}});
    auto read = on_.run(context_);
    if (!read) {
        problem_ = std::move(read).as_failure();
        return;
    }
    if (read->back().size() > 0) { drawn_ = read->back().number(0, 2); }
    read_late_.push_back(key);
    exists = read->front().size() > 0;
    if (exists) { visit(read->front().stamped(0, 1, 0)); }
}

/// Returns the number of a row that was requested and exists; -1 if there is none.
ENTITABLE_DECL int postgres_store::transaction::find(std::string_view key) noexcept {
    int const count = found_.size();
    for (int looked = 0; looked < count; ++looked) { // usually the next row is the right one
        int const at = (next_found_ + looked) % count;
        if (found_.bytes(at, 0) == key) {
            next_found_ = at + 1;
            return at;
        }
    }
    return -1;
}

ENTITABLE_DECL bool postgres_store::transaction::get(std::string_view row, row_visitor visit) {
    std::string key;
    if (!problem_ || !detail::append_utf16_key(row, key)) { return false; }
    if (int const at = find(key); at >= 0) {
        visit(found_.stamped(at, 2, 1));
        return true;
    }
    if (was_requested(key)) { return false; }
    bool exists = false;
    read_now(key, visit, exists);
    return exists;
}

ENTITABLE_DECL bool postgres_store::transaction::insert(std::string_view row, std::string& bytes) {
    std::string key;
    if (asked_.inserts_read && detail::append_utf16_key(row, key) && find(key) >= 0) { return false; }
    std::size_t const before = changes_.size();
    stage(row, std::move(bytes), true);
    if (changes_.size() > before) { changes_.back().is_new = !asked_.inserts_read; }
    return true;
}

/// The rows are usually read in the order in which they were requested.
ENTITABLE_DECL bool postgres_store::transaction::was_requested(std::string_view key) noexcept {
    std::size_t const count = asked_.rows.size();
    for (std::size_t looked = 0; looked < count; ++looked) {
        std::size_t const at = (next_requested_ + looked) % count;
        if (asked_.rows[at] == key) {
            next_requested_ = at;
            return true;
        }
    }
    return false;
}

ENTITABLE_DECL void postgres_store::transaction::put(std::string_view row, std::string bytes) {
    stage(row, std::move(bytes), false);
}

ENTITABLE_DECL void postgres_store::transaction::erase(std::string_view row) { stage(row, std::nullopt, false); }

ENTITABLE_DECL void postgres_store::transaction::stage(
    std::string_view row, std::optional<std::string> bytes, bool inserted) {
    change staged{{}, std::move(bytes), drawn_};
    if (!detail::append_utf16_key(row, staged.row)) {
        if (staged.bytes && problem_) {
            problem_ = failure{error_code::invalid_input, "the row key must be valid UTF-8"};
        }
        return;
    }
    if (staged.bytes && !inserted && problem_ && !was_requested(staged.row) &&
        std::find(read_late_.begin(), read_late_.end(), staged.row) == read_late_.end()) {
        bool exists = false;
        read_now(staged.row, [](std::string_view) {}, exists);
        staged.version = drawn_;
    }
    if (staged.bytes && staged.bytes->size() >= row_format::header_size) { // the version that the body wrote
        staged.version = row_format::load<std::int64_t>(staged.bytes->data() + row_format::timestamp_offset);
    }
    changes_.push_back(std::move(staged));
}

ENTITABLE_END_NAMESPACE
