// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/file/detail/schema.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

namespace file_format {

// Their texts are part of the format: a file is recognised by them.
inline constexpr char table_sql[] =
    "CREATE TABLE entitable_table (id INTEGER PRIMARY KEY, key BLOB UNIQUE, name TEXT NOT NULL)";
inline constexpr char row_sql[] =
    "CREATE TABLE entitable_row (table_id INTEGER NOT NULL, partition_key BLOB NOT NULL, row_key BLOB NOT NULL, "
    "value BLOB NOT NULL, PRIMARY KEY (table_id, partition_key, row_key)) WITHOUT ROWID";
inline constexpr char shape_sql[] = "CREATE TABLE entitable_shape (id INTEGER PRIMARY KEY, shape BLOB NOT NULL UNIQUE)";
inline constexpr char state_sql[] =
    "CREATE TABLE entitable_state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID";
/// What is in the schema besides the four tables above and the indices that SQLite makes for UNIQUE. Other tables and views
/// harm nobody; a trigger or an index on our tables would change what a write does.
inline constexpr char strangers_sql[] =
    "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' OR (tbl_name IN "
    "('entitable_table', 'entitable_row', 'entitable_shape', 'entitable_state') AND type <> 'table' "
    "AND name NOT LIKE 'sqlite_autoindex_%')";

} // namespace file_format

ENTITABLE_DECL result<bool> schema_is_ours(connection& on) {
    using namespace file_format;
    auto const table = on.text_of("SELECT sql FROM sqlite_schema WHERE name = 'entitable_table'");
    auto const row = on.text_of("SELECT sql FROM sqlite_schema WHERE name = 'entitable_row'");
    auto const shape = on.text_of("SELECT sql FROM sqlite_schema WHERE name = 'entitable_shape'");
    auto const state = on.text_of("SELECT sql FROM sqlite_schema WHERE name = 'entitable_state'");
    auto const strangers = on.number_of(strangers_sql);
    for (auto const* read : {&table, &row, &shape, &state}) {
        if (!*read) {
            return failure{read->error()};
        }
    }
    if (!strangers) {
        return failure{strangers.error()};
    }
    return *table == table_sql && *row == row_sql && *shape == shape_sql && *state == state_sql && *strangers == 0;
}

/// Inside of a transaction: whether the file is one of ours; makes it one when it is empty.
ENTITABLE_DECL result<void> create_or_check(connection& on) {
    using namespace file_format;
    auto const application = on.number_of("PRAGMA application_id");
    auto const user_version = on.number_of("PRAGMA user_version");
    auto const objects = on.number_of("SELECT count(*) FROM sqlite_schema");
    for (auto const* read : {&application, &user_version, &objects}) {
        if (!*read) {
            return failure{read->error()};
        }
    }
    if (*application == 0 && *user_version == 0 && *objects == 0) {
        std::string text = text::joined({table_sql, ";", row_sql, ";", shape_sql, ";", state_sql,
            "; INSERT INTO entitable_state VALUES ('version_bound', 0); PRAGMA application_id = "});
        text::append_decimal(text, application_id);
        text += "; PRAGMA user_version = ";
        text::append_decimal(text, version);
        if (on.run_text(text.c_str()) != stepped::done) {
            return on.problem("the file cannot be prepared");
        }
        return {};
    }
    if (*application != application_id) {
        return failure{error_code::store_foreign, "the file is a database of another application"};
    }
    if (*user_version > version) {
        return failure{error_code::store_newer,
            text::joined({"the file has format ", std::to_string(*user_version), "; this library knows format ",
                std::to_string(version)})};
    }
    auto ours = schema_is_ours(on);
    if (!ours) {
        return std::move(ours).as_failure();
    }
    if (*user_version != version || !*ours) {
        return failure{error_code::store_foreign, "the tables of the file are not those that this library makes"};
    }
    return {};
}

ENTITABLE_DECL stepped end_known_tables(connection& on) {
    return on.run_text("CREATE TABLE entitable_passing (x); DROP TABLE entitable_passing");
}

ENTITABLE_DECL result<void> prepare_schema(connection& on, bool write_ahead_log, patience& waits) {
    using namespace file_format;
    std::string page_size = "PRAGMA page_size = ";
    text::append_decimal(page_size, page_bytes);
    // First the file is known, then its journal is changed: that of a foreign file is left alone. One that is known needs no
    // writer's transaction, and so does not wait for one.
    for (;;) {
        auto const application = on.number_of("PRAGMA application_id");
        bool const known = application && *application == application_id;
        stepped step = application ? on.run_text(page_size.c_str()) : stepped::busy;
        step = step == stepped::done ? on.run_text(known ? "BEGIN" : "BEGIN IMMEDIATE") : step;
        auto const checked = step == stepped::done ? create_or_check(on) : result<void>{};
        step = step == stepped::done && checked ? on.run_text("COMMIT") : step;
        if (step == stepped::done && checked) {
            break;
        }
        failure failed = !application ? failure{application.error()}
            : !checked                ? failure{checked.error()}
                                      : on.problem("the file cannot be prepared");
        on.roll_back();
        if (failed.error().code != error_code::store_busy) {
            return failed;
        }
        if (!waits.wait()) {
            return waits.given_up();
        }
    }
    char const* const wanted = write_ahead_log ? "wal" : "delete";
    char const* const set = write_ahead_log ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE";
    auto const present = on.text_of("PRAGMA journal_mode");
    if (present && *present == wanted) {
        return {};
    }
    for (;;) {
        auto const changed = on.text_of(set);
        if (changed && *changed == wanted) {
            return {};
        }
        bool const busy = changed ? true : changed.error().code == error_code::store_busy;
        if (!busy) {
            return failure{changed.error()};
        }
        if (!waits.wait()) {
            return waits.given_up();
        }
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
