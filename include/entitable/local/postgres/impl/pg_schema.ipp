// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/postgres/detail/pg_schema.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Replaces each @ with the name of the schema, and each # with the number of the locks.
ENTITABLE_DECL std::string with_pg_schema(std::string_view text, std::string const& schema) {
    std::string made;
    for (char const each : text) {
        if (each == '@') {
            made += schema;
        } else if (each == '#') {
            text::append_decimal(made, pg_lock_class);
        } else {
            made += each;
        }
    }
    return made;
}

ENTITABLE_DECL std::int64_t pg_longest_statement(std::chrono::nanoseconds wait) noexcept {
    auto const most = std::int64_t{24} * 3600 * 1000;
    auto const milliseconds = std::int64_t{std::chrono::duration_cast<std::chrono::milliseconds>(wait).count()};
    return milliseconds < 1 ? 1 : milliseconds > most ? most : milliseconds;
}

ENTITABLE_DECL std::string pg_session_options(postgres_options const& options) {
    std::string text =
        "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off -c jit=off "
        "-c client_min_messages=warning " // a commit warns if its standby does not have it
        "-c statement_timeout=";
    text::append_decimal(text, static_cast<std::uint64_t>(pg_longest_statement(options.longest_wait)));
    return text;
}

/// The text qualifies every table with the schema.
inline std::string pg_statement_text(pg_statement which, std::string const& schema) {
    auto const text = [&]() -> std::string_view {
        switch (which) {
            // For shared sessions, in the transaction that it is sent with: its settings end with the transaction.
            case pg_statement::settings:
                return "SELECT set_config('statement_timeout', $1::int8::text, true), set_config('enable_seqscan', "
                       "'off', "
                       "true), set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true), "
                       "set_config('client_min_messages', 'warning', true)";
            case pg_statement::begin: return "BEGIN ISOLATION LEVEL READ COMMITTED";
            case pg_statement::begin_read: return "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
            case pg_statement::commit: return "COMMIT";
            case pg_statement::rollback: return "ROLLBACK";
            case pg_statement::set_timeout: return "SELECT set_config('statement_timeout', $1::int8::text, true)";
            // Locks the row of the partition without writing to it, and creates it first if it is missing. The lock of the table is shared
            // by all writers to it; removing the table takes it exclusively.
            case pg_statement::lock_partition:
                return "INSERT INTO @.partitions AS p SELECT id, $2::bytea, floor FROM @.tables WHERE key = $1::bytea "
                       "AND pg_advisory_xact_lock_shared(#, id) IS NOT NULL "
                       "ON CONFLICT (table_id, partition_key) DO UPDATE SET version = p.version WHERE false";
            // Starts after the lock is taken, so it sees the latest commit. Here and below a row is looked up by a subquery, so that no
            // planner reads the whole partition.
            case pg_statement::read_partition:
                return "SELECT p.table_id, p.version, pg_current_xact_id()::text::int8, k.row_key, "
                       "(SELECT value FROM @.rows r WHERE r.table_id = p.table_id AND r.partition_key = $2::bytea AND "
                       "r.row_key = k.row_key) "
                       "FROM @.partitions p LEFT JOIN unnest($3::bytea[]) AS k (row_key) ON true "
                       "WHERE p.table_id = (SELECT id FROM @.tables WHERE key = $1::bytea) AND p.partition_key = "
                       "$2::bytea";
            case pg_statement::read_row:
                return "SELECT value FROM @.rows WHERE table_id = $1::int4 AND partition_key = $2::bytea AND row_key = "
                       "$3::bytea";
            case pg_statement::get:
                return "SELECT (SELECT value FROM @.rows r WHERE r.table_id = t.id AND r.partition_key = $2::bytea AND "
                       "r.row_key = $3::bytea) FROM @.tables t WHERE t.key = $1::bytea";
            case pg_statement::put:
                return "INSERT INTO @.rows VALUES ($1::int4, $2::bytea, $3::bytea, $4::bytea) "
                       "ON CONFLICT (table_id, partition_key, row_key) DO UPDATE SET value = excluded.value";
            case pg_statement::put_many:
                return "INSERT INTO @.rows SELECT $1::int4, $2::bytea, k, v FROM unnest($3::bytea[], $4::bytea[]) AS x "
                       "(k, v) "
                       "ON CONFLICT (table_id, partition_key, row_key) DO UPDATE SET value = excluded.value";
            case pg_statement::erase:
                return "DELETE FROM @.rows WHERE table_id = $1::int4 AND partition_key = $2::bytea AND row_key = "
                       "$3::bytea";
            case pg_statement::erase_many:
                return "DELETE FROM @.rows WHERE ctid = ANY (ARRAY(SELECT (SELECT ctid FROM @.rows r WHERE r.table_id "
                       "= "
                       "$1::int4 AND r.partition_key = $2::bytea AND r.row_key = k.row_key) "
                       "FROM unnest($3::bytea[]) AS k (row_key)))";
            case pg_statement::raise_version:
                return "UPDATE @.partitions SET version = $3::int8 WHERE table_id = $1::int4 AND partition_key = "
                       "$2::bytea";
            case pg_statement::outcome:
                return "SELECT pg_xact_status($1::int8::text::xid8), "
                       "(SELECT version FROM @.partitions WHERE table_id = $2::int4 AND partition_key = $3::bytea), "
                       "current_setting('synchronous_standby_names') <> ''";
            // It commits after the transaction in question, so a standby that has this commit has that transaction as well.
            case pg_statement::confirm:
                return "UPDATE @.partitions SET version = version WHERE table_id = $1::int4 AND partition_key = "
                       "$2::bytea";
            case pg_statement::find_table: return "SELECT id FROM @.tables WHERE key = $1::bytea";
            case pg_statement::scan_partition:
                return "SELECT partition_key, row_key, value FROM @.rows "
                       "WHERE table_id = (SELECT id FROM @.tables WHERE key = $1::bytea) "
                       "AND partition_key = $2::bytea AND row_key >= $3::bytea ORDER BY row_key LIMIT $4::int8";
            case pg_statement::scan_partition_until:
                return "SELECT partition_key, row_key, value FROM @.rows "
                       "WHERE table_id = (SELECT id FROM @.tables WHERE key = $1::bytea) AND partition_key = $2::bytea "
                       "AND row_key >= $3::bytea AND row_key <= $5::bytea ORDER BY row_key LIMIT $4::int8";
            case pg_statement::scan_from:
                return "SELECT partition_key, row_key, value FROM @.rows "
                       "WHERE table_id = (SELECT id FROM @.tables WHERE key = $1::bytea) "
                       "AND (partition_key, row_key) >= ($2::bytea, $3::bytea) ORDER BY partition_key, row_key LIMIT "
                       "$4::int8";
            case pg_statement::scan_until:
                return "SELECT partition_key, row_key, value FROM @.rows "
                       "WHERE table_id = (SELECT id FROM @.tables WHERE key = $1::bytea) "
                       "AND (partition_key, row_key) >= ($2::bytea, $3::bytea) AND partition_key <= $5::bytea "
                       "ORDER BY partition_key, row_key LIMIT $4::int8";
            case pg_statement::list_tables:
                return "SELECT key, name FROM @.tables WHERE key >= $1::bytea ORDER BY key LIMIT $2::int8";
            case pg_statement::add_table:
                return "INSERT INTO @.tables (key, name, floor) SELECT $1::bytea, $2::bytea, value "
                       "FROM (SELECT value FROM @.state WHERE name = 'version_floor' FOR SHARE) AS s "
                       "ON CONFLICT (key) DO NOTHING RETURNING id";
            case pg_statement::hold_table: return "SELECT id FROM @.tables WHERE key = $1::bytea FOR UPDATE";
            case pg_statement::lock_table: return "SELECT pg_advisory_xact_lock(#, $1::int4)";
            // A re-created table of the same name starts with later versions than this one had.
            case pg_statement::raise_floor:
                return "UPDATE @.state SET value = greatest(value, (SELECT floor FROM @.tables WHERE id = $1::int4), "
                       "(SELECT max(version) FROM @.partitions WHERE table_id = $1::int4)) WHERE name = "
                       "'version_floor'";
            case pg_statement::forget_table: return "INSERT INTO @.forgotten VALUES ($1::int4)";
            case pg_statement::remove_table: return "DELETE FROM @.tables WHERE id = $1::int4";
            case pg_statement::forgotten: return "SELECT id FROM @.forgotten ORDER BY id LIMIT 1";
            case pg_statement::purge_rows:
                return "DELETE FROM @.rows WHERE ctid = ANY (ARRAY(SELECT ctid FROM @.rows WHERE table_id = $1::int4 "
                       "LIMIT 5000)) "
                       "RETURNING 1";
            case pg_statement::purge_partitions:
                return "DELETE FROM @.partitions WHERE ctid = "
                       "ANY (ARRAY(SELECT ctid FROM @.partitions WHERE table_id = $1::int4 LIMIT 5000)) RETURNING 1";
            case pg_statement::purged: return "DELETE FROM @.forgotten WHERE id = $1::int4";
            case pg_statement::count: break;
        }
        return "";
    };
    return with_pg_schema(text(), schema);
}

/// A hash of the text: in a shared session no different statement has the same name.
ENTITABLE_DECL pg_statements::pg_statements(std::string const& schema) {
    for (std::size_t at = 0; at < texts_.size(); ++at) {
        texts_[at] = pg_statement_text(static_cast<pg_statement>(at), schema);
        std::uint64_t hash = 0xcbf29ce484222325U; // FNV-1a
        for (char const each : texts_[at]) { hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3U; }
        names_[at] = "entitable_";
        for (int shift = 60; shift >= 0; shift -= 4) {
            names_[at] += "0123456789abcdef"[hash >> static_cast<unsigned>(shift) & 0xFU];
        }
    }
}

// ---- the tables -------------------------------------------------------------------------------------

/// The first row of the state is the version, which every version of the library reads first.
inline constexpr char pg_tables_text[] =
    "CREATE TABLE @.state (name text PRIMARY KEY, value int8 NOT NULL);"
    "CREATE TABLE @.tables (id int4 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key bytea NOT NULL UNIQUE, "
    "name bytea NOT NULL, floor int8 NOT NULL);"
    "CREATE TABLE @.partitions (table_id int4, partition_key bytea, version int8 NOT NULL, "
    "PRIMARY KEY (table_id, partition_key)) WITH (fillfactor = 70);"
    "CREATE TABLE @.rows (table_id int4, partition_key bytea, row_key bytea, value bytea NOT NULL, "
    "PRIMARY KEY (table_id, partition_key, row_key));"
    "CREATE TABLE @.forgotten (id int4 PRIMARY KEY);"
    // Readable keys, for `psql`. No statement of the library uses these functions.
    "CREATE FUNCTION @.key_text(key bytea) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS 'SELECT "
    "coalesce(string_agg(chr(CASE "
    "WHEN unit BETWEEN 55296 AND 56319 THEN 65536 + (unit - 55296) * 1024 + (next - 56320) ELSE unit END), '''' ORDER "
    "BY at), '''') "
    "FROM (SELECT at, get_byte(key, 2 * at) * 256 + get_byte(key, 2 * at + 1) AS unit, CASE WHEN 2 * at + 3 < "
    "length(key) "
    "THEN get_byte(key, 2 * at + 2) * 256 + get_byte(key, 2 * at + 3) END AS next "
    "FROM generate_series(0, length(key) / 2 - 1) AS at) AS units WHERE unit NOT BETWEEN 56320 AND 57343';"
    "CREATE VIEW @.readable AS SELECT convert_from(t.name, 'UTF8') AS \"table\", @.key_text(r.partition_key) AS "
    "partition_key, "
    "@.key_text(r.row_key) AS row_key, length(r.value) AS bytes FROM @.rows r JOIN @.tables t ON t.id = r.table_id;";

inline constexpr std::int64_t pg_schema_version = 1;

inline bool is_pg_schema_name(std::string_view name) noexcept {
    bool good = !name.empty() && name.size() <= 40 && (name[0] < '0' || name[0] > '9');
    for (char const each : name) {
        good = good && ((each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '_');
    }
    return good;
}

ENTITABLE_DECL result<void> check_pg_schema(postgres_options const& options, bool may_create,
    function_ref<result<std::vector<pg_rows>>(std::string const&)> run) {
    if (!is_pg_schema_name(options.schema)) {
        return failure{error_code::invalid_input,
            "postgres_options::schema must consist of 1 to 40 lower-case letters, digits and _, and must not begin "
            "with a digit"};
    }
    auto const on = [&](std::string_view text) { return run(with_pg_schema(text, options.schema)); };
    ENTITABLE_TRY(
        auto exists, on("SELECT (to_regclass('@.state') IS NOT NULL)::text, (to_regnamespace('@') IS NOT NULL)::text"));
    bool const without_case = options.local.limits.table_names_without_case;
    if (exists.at(0).bytes(0, 0) != "true") {
        if (!may_create) {
            return failure{error_code::store_foreign, "the schema does not have the tables of this library"};
        }
        // Concurrent creators wait for each other; the second finds the tables created. An owner of a schema may lack the right to create
        // others.
        if (exists.at(0).bytes(0, 1) != "true") {
            auto schema = on("BEGIN; SELECT pg_advisory_xact_lock(#, 0); CREATE SCHEMA IF NOT EXISTS @; COMMIT");
            if (!schema) {
                static_cast<void>(run("ROLLBACK"));
                return std::move(schema).as_failure();
            }
        }
        auto done = on(text::joined(
            {"BEGIN; SELECT pg_advisory_xact_lock(#, 0); DO $do$ BEGIN IF to_regclass('@.state') IS NULL THEN ",
                pg_tables_text,
                "INSERT INTO @.state VALUES ('version', 1), ('version_floor', 0), ('names_without_case', ",
                without_case ? "1" : "0", "); END IF; END $do$; COMMIT"}));
        if (!done) {
            static_cast<void>(run("ROLLBACK"));
            return std::move(done).as_failure();
        }
    }
    ENTITABLE_TRY(auto state,
        on("SELECT value::text FROM @.state WHERE name = 'version' UNION ALL "
           "SELECT value::text FROM @.state WHERE name = 'names_without_case'"));
    if (state.at(0).size() != 2) {
        return failure{error_code::store_foreign, "the tables of the schema are not those of this library"};
    }
    std::string const version{state.at(0).bytes(0, 0)};
    if (version != std::to_string(pg_schema_version)) {
        bool const newer = version.size() > 1 || version[0] > '1';
        return failure{newer ? error_code::store_newer : error_code::store_foreign,
            text::joined({"the tables in the database have format ", version, "; this library knows format ",
                std::to_string(pg_schema_version)})};
    }
    if ((state.at(0).bytes(1, 0) == "1") != without_case) {
        return failure{error_code::store_foreign,
            "the tables were created by a profile with other case sensitivity of table names "
            "(table_names_without_case)"};
    }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
