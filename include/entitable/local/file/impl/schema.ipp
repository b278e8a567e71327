// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/local/file/detail/schema.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

namespace file_format {

// The texts are part of the format: a file is recognised by them.
inline constexpr char table_sql[] =
    "CREATE TABLE entitable_table (id INTEGER PRIMARY KEY, key BLOB UNIQUE, name TEXT NOT NULL)";
inline constexpr char row_sql[] =
    "CREATE TABLE entitable_row (table_id INTEGER NOT NULL, partition_key BLOB NOT NULL, row_key BLOB NOT NULL, "
    "value BLOB NOT NULL, PRIMARY KEY (table_id, partition_key, row_key)) WITHOUT ROWID";
inline constexpr char shape_sql[] = "CREATE TABLE entitable_shape (id INTEGER PRIMARY KEY, shape BLOB NOT NULL UNIQUE)";
inline constexpr char state_sql[] =
    "CREATE TABLE entitable_state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID";
/// The objects in the schema other than the four tables above and the indices that SQLite makes for UNIQUE. Other tables and views are
/// harmless; a trigger or an index on our tables would change the effect of a write.
inline constexpr char strangers_sql[] =
    "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' OR (tbl_name IN "
    "('entitable_table', 'entitable_row', 'entitable_shape', 'entitable_state') AND type <> 'table' "
    "AND name NOT LIKE 'sqlite_autoindex_%')";

} // namespace file_format

ENTITABLE_DECL result<bool> schema_is_ours(connection& on) {
    using namespace file_format;
    auto const table = on.text_of("SELECT sql FROM sqlite_master WHERE name = 'entitable_table'");
    auto const row = on.text_of("SELECT sql FROM sqlite_master WHERE name = 'entitable_row'");
    auto const shape = on.text_of("SELECT sql FROM sqlite_master WHERE name = 'entitable_shape'");
    auto const state = on.text_of("SELECT sql FROM sqlite_master WHERE name = 'entitable_state'");
    auto const strangers = on.number_of(strangers_sql);
    for (auto const* read : {&table, &row, &shape, &state}) {
        if (!*read) { return failure{read->error()}; }
    }
    if (!strangers) { return failure{strangers.error()}; }
    return *table == table_sql && *row == row_sql && *shape == shape_sql && *state == state_sql && *strangers == 0;
}

/// Returns a value of entitable_state; -1 if it is absent.
ENTITABLE_DECL result<std::int64_t> state_of(connection& on, char const* text) {
    auto const found = on.text_of(text);
    return !found ? failure{found.error()} : found->empty() ? std::int64_t{-1} : on.number_of(text);
}
ENTITABLE_DECL result<std::int64_t> kept_names(connection& on) {
    return state_of(on, "SELECT value FROM entitable_state WHERE name = 'names_without_case'");
}

/// In a transaction: whether the file has the tables of this library, with the requested case of names; false for an empty file.
ENTITABLE_DECL result<bool> check_schema(connection& on, file_form wanted) {
    using namespace file_format;
    auto const application = on.number_of("PRAGMA application_id");
    auto const user_version = on.number_of("PRAGMA user_version");
    auto const objects = on.number_of("SELECT count(*) FROM sqlite_master");
    for (auto const* read : {&application, &user_version, &objects}) {
        if (!*read) { return failure{read->error()}; }
    }
    if (*application == 0 && *user_version == 0 && *objects == 0) { return false; }
    if (*application != application_id) {
        return failure{error_code::store_foreign, "the file is a database that belongs to another application"};
    }
    if (*user_version > version) {
        return failure{error_code::store_newer,
            text::joined({"the file has format ", std::to_string(*user_version), "; this library supports format ",
                std::to_string(version)})};
    }
    static_cast<void>(on.guard().look()); // when the file was opened, another process was creating it
    if (!on.guard().on()) { return damaged_header(); }
    auto ours = schema_is_ours(on);
    if (!ours) { return ours; }
    if (*user_version != version || !*ours) {
        return failure{error_code::store_foreign, "the tables of the file differ from those of this library"};
    }
    auto const names = kept_names(on);
    if (!names) { return failure{names.error()}; }
    if (*names != std::int64_t{wanted.names_without_case}) {
        auto const named = [](bool without) {
            return without ? "\"Orders\" and \"orders\" are one table" : "\"Orders\" and \"orders\" are two tables";
        };
        return failure{error_code::store_foreign,
            *names != 0 && *names != 1
                ? std::string{"the file does not record whether table names are case-sensitive"}
                : text::joined({"the file was created by a profile in which ", named(*names == 1),
                      ", and in this profile ", named(wanted.names_without_case), " (table_names_without_case)"})};
    }
    return true;
}

ENTITABLE_DECL stepped create_schema(connection& on, file_form form) {
    using namespace file_format;
    on.guard().switch_on();
    std::string text = text::joined({table_sql, ";", row_sql, ";", shape_sql, ";", state_sql,
        "; INSERT INTO entitable_state VALUES ('version_bound', 0), ('names_without_case', ",
        form.names_without_case ? "1" : "0", "), ('write_ahead_log', ", form.write_ahead_log ? "1" : "0",
        "); PRAGMA application_id = "});
    text::append_decimal(text, application_id);
    text += "; PRAGMA user_version = ";
    text::append_decimal(text, version);
    return on.run_text(text.c_str());
}

/// Whether the requested journal is in use, according to SQLite and to the stored state.
ENTITABLE_DECL result<bool> journal_fits(connection& on, file_form wanted) {
    auto const journal = on.text_of("PRAGMA journal_mode");
    auto const kept = state_of(on, "SELECT value FROM entitable_state WHERE name = 'write_ahead_log'");
    if (!journal || !kept) { return failure{journal ? kept.error() : journal.error()}; }
    return *journal == (wanted.write_ahead_log ? "wal" : "delete") && *kept == std::int64_t{wanted.write_ahead_log};
}

/// Retries until the result is not StoreBusy, or the time is over.
template <class Try>
auto patiently(wait_budget& waits, Try const& once) -> decltype(once()) {
    for (;;) {
        auto outcome = once();
        if (outcome || outcome.error().code != error_code::store_busy) { return outcome; }
        if (!waits.wait()) { return waits.given_up(); }
    }
}

/// Creates a view, because a table would take a page, and a full disk has no page left.
ENTITABLE_DECL stepped end_known_tables(connection& on) {
    return on.run_text("CREATE VIEW entitable_passing AS SELECT 1; DROP VIEW entitable_passing");
}

/// Runs `check_schema` in its own transaction.
ENTITABLE_DECL result<bool> look_at_schema(connection& on, file_form wanted) {
    if (on.run_text("BEGIN") != stepped::done) { return on.problem("cannot read the file"); }
    auto ours = check_schema(on, wanted);
    on.roll_back();
    return ours;
}

ENTITABLE_DECL result<bool> schema_fits(connection& on, file_form wanted, wait_budget& waits) {
    return patiently(waits, [&]() -> result<bool> {
        auto ours = look_at_schema(on, wanted);
        return ours && *ours ? journal_fits(on, wanted) : std::move(ours);
    });
}

ENTITABLE_DECL result<bool> schema_can_be_read(connection& on, file_form wanted, wait_budget& waits) {
    return patiently(waits, [&] { return look_at_schema(on, wanted); });
}

ENTITABLE_DECL result<void> prepare_schema(connection& on, file_form wanted, wait_budget& waits) {
    auto const failed = [&] { return on.problem("cannot prepare the file"); };
    std::string page_size = "PRAGMA page_size = ";
    text::append_decimal(page_size, file_format::page_bytes);
    // The file is recognised before its journal is changed, so that a foreign file is not changed.
    auto made = patiently(waits, [&]() -> result<void> {
        if (on.run_text(page_size.c_str()) != stepped::done) { return failed(); }
        on.reserve_page_checksums();
        if (on.run_text("BEGIN IMMEDIATE") != stepped::done) { return failed(); }
        auto const ours = check_schema(on, wanted);
        bool const done =
            ours && (*ours || create_schema(on, wanted) == stepped::done) && on.run_text("COMMIT") == stepped::done;
        auto outcome = done ? result<void>{} : ours ? failed() : failure{ours.error()};
        on.roll_back();
        return outcome;
    });
    if (!made) { return made; }
    return patiently(waits, [&]() -> result<void> {
        auto fits = journal_fits(on, wanted);
        if (!fits || *fits) { return fits ? result<void>{} : std::move(fits).as_failure(); }
        auto const changed =
            on.text_of(wanted.write_ahead_log ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE");
        if (!changed) { return failure{changed.error()}; }
        if (on.run_text(wanted.write_ahead_log
                    ? "REPLACE INTO entitable_state VALUES ('write_ahead_log', 1)"
                    : "REPLACE INTO entitable_state VALUES ('write_ahead_log', 0)") != stepped::done) {
            return failed();
        }
        fits = journal_fits(on, wanted);
        return fits && *fits ? result<void>{} : failure{error_code::store_busy, "other connections hold the file"};
    });
}

} // namespace detail
ENTITABLE_END_NAMESPACE
