// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/postgres/detail/pg_schema.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The next version. Both sequences only grow: `draws` by one for each version, `base` only here, under a lock, when the sum has fallen
/// behind the clock by more than a millisecond (source: "Tables in PostgreSQL, version 2", docs/stored_formats.md).
/// Each version is therefore greater than every version drawn before it. The lock is not waited for: without the lock, the version lags
/// behind the clock but is still greater.
inline constexpr std::string_view pg_next_version =
    "(nextval('@.draws') + CASE WHEN pg_sequence_last_value('@.base') + pg_sequence_last_value('@.draws') >= "
    "$?::int8 - 10000 THEN pg_sequence_last_value('@.base') WHEN pg_try_advisory_lock(#, -1) THEN CASE WHEN "
    "setval('@.base', greatest(pg_sequence_last_value('@.base'), $?::int8 - pg_sequence_last_value('@.draws'))) IS "
    "NOT NULL AND pg_advisory_unlock(#, -1) THEN pg_sequence_last_value('@.base') END ELSE "
    "pg_sequence_last_value('@.base') END)";

/// Replaces each @ with the name of the schema, each # with the number of the locks, and each ~N with the next version, at the time of
/// parameter N. In tables of format 1 the entities are in `rows`, and their versions in the values.
ENTITABLE_DECL std::string with_pg_schema(std::string_view text, std::string const& schema) {
    std::string made;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '@') {
            made += schema;
        } else if (text[at] == '#') {
            text::append_decimal(made, pg_lock_class);
        } else if (text[at] == '~') {
            std::string draw{pg_next_version};
            ++at;
            for (std::size_t mark = draw.find('?'); mark != std::string::npos; mark = draw.find('?')) {
                draw[mark] = text[at];
            }
            made += with_pg_schema(draw, schema);
        } else {
            made += text[at];
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
            // Writes of one row. A statement that may create or remove a row holds the lock of its key, and shares the
            // lock of the partition. All other statements lock only the row itself. The version is drawn under these locks, so it is
            // greater than all earlier versions of the key. A table that does not exist has no number, which is refused (23502). If an
            // insert returns no row, the row exists already; for all other statements `look` finds the reason.
            case pg_statement::insert:
                return "INSERT INTO @.entities VALUES ((SELECT id FROM @.tables WHERE key = $1::bytea AND "
                       "pg_advisory_xact_lock_shared($6::int8) IS NOT NULL AND pg_advisory_xact_lock($7::int8) IS NOT "
                       "NULL), $2::bytea, $3::bytea, ~5, $4::bytea) ON CONFLICT (table_id, partition_key, row_key) DO "
                       "NOTHING RETURNING version, pg_sequence_last_value('@.removals')";
            case pg_statement::upsert:
                return "INSERT INTO @.entities AS e VALUES ((SELECT id FROM @.tables WHERE key = $1::bytea AND "
                       "pg_advisory_xact_lock_shared($6::int8) IS NOT NULL AND pg_advisory_xact_lock($7::int8) IS NOT "
                       "NULL), $2::bytea, $3::bytea, ~5, $4::bytea) ON CONFLICT (table_id, partition_key, row_key) DO "
                       "UPDATE SET version = ~5, value = excluded.value RETURNING version";
            case pg_statement::replace:
                return "UPDATE @.entities SET version = ~5, value = $4::bytea WHERE table_id = (SELECT "
                       "id FROM @.tables WHERE key = $1::bytea) AND partition_key = $2::bytea AND row_key = $3::bytea "
                       "AND ($6::int8 = -1 OR version = $6::int8) RETURNING version";
            case pg_statement::remove:
                return "DELETE FROM @.entities WHERE table_id = (SELECT id FROM @.tables WHERE key = "
                       "$1::bytea AND pg_advisory_xact_lock_shared($5::int8) IS NOT NULL AND "
                       "pg_advisory_xact_lock($6::int8) IS NOT NULL) AND partition_key = $2::bytea AND row_key = "
                       "$3::bytea AND ($4::int8 = -1 OR version = $4::int8) RETURNING version, nextval('@.removals')";
            case pg_statement::look:
                return "SELECT e.version FROM @.tables t LEFT JOIN LATERAL (SELECT version FROM @.entities r WHERE "
                       "r.table_id = t.id AND r.partition_key = $2::bytea AND r.row_key = $3::bytea OFFSET 0) AS e ON "
                       "true WHERE t.key = $1::bytea";
            // A transaction excludes other transactions of the partition, and everything that creates or removes its rows.
            case pg_statement::lock_partition:
                return "SELECT id FROM @.tables WHERE key = $1::bytea AND pg_advisory_xact_lock_shared(#, id) IS NOT "
                       "NULL AND pg_advisory_xact_lock($2::int8) IS NOT NULL";
            // Starts after the lock is taken, so it sees the latest commit. Here and below a row is looked up by a subquery, so that no
            // planner reads the whole partition.
            case pg_statement::read_rows:
                return "SELECT k.row_key, e.version, e.value FROM unnest($3::bytea[]) AS k (row_key), LATERAL (SELECT "
                       "version, value FROM @.entities r WHERE r.table_id = (SELECT id FROM @.tables WHERE key = "
                       "$1::bytea) AND r.partition_key = $2::bytea AND r.row_key = k.row_key FOR UPDATE) AS e";
            case pg_statement::read_row:
                return "SELECT version, value FROM @.entities WHERE table_id = $1::int4 AND partition_key = $2::bytea "
                       "AND row_key = $3::bytea FOR UPDATE";
            case pg_statement::draw:
                return "SELECT id, pg_current_xact_id()::text::int8, ~2 FROM @.tables WHERE key = $1::bytea";
            case pg_statement::get:
                return "SELECT e.value, e.version FROM @.tables t LEFT JOIN LATERAL (SELECT value, version FROM "
                       "@.entities r WHERE r.table_id = t.id AND r.partition_key = $2::bytea AND r.row_key = $3::bytea "
                       "OFFSET 0) AS e ON true WHERE t.key = $1::bytea";
            case pg_statement::put:
                return "INSERT INTO @.entities VALUES ($1::int4, $2::bytea, $3::bytea, $5::int8, $4::bytea) "
                       "ON CONFLICT (table_id, partition_key, row_key) DO UPDATE SET version = excluded.version, value "
                       "= excluded.value";
            case pg_statement::put_many:
                return "INSERT INTO @.entities SELECT $1::int4, $2::bytea, k, n, v FROM unnest($3::bytea[], "
                       "$4::bytea[], $5::int8[]) AS x (k, v, n) "
                       "ON CONFLICT (table_id, partition_key, row_key) DO UPDATE SET version = excluded.version, value "
                       "= excluded.value";
            case pg_statement::erase:
                return "DELETE FROM @.entities WHERE table_id = $1::int4 AND partition_key = $2::bytea AND row_key = "
                       "$3::bytea RETURNING nextval('@.removals')";
            case pg_statement::erase_many:
                return "DELETE FROM @.entities WHERE ctid = ANY (ARRAY(SELECT (SELECT ctid FROM @.entities r WHERE "
                       "r.table_id = $1::int4 AND r.partition_key = $2::bytea AND r.row_key = k.row_key) "
                       "FROM unnest($3::bytea[]) AS k (row_key))) RETURNING nextval('@.removals')";
            case pg_statement::outcome:
                return "SELECT pg_xact_status($1::int8::text::xid8), "
                       "(SELECT version FROM @.entities WHERE table_id = $2::int4 AND partition_key = $3::bytea AND "
                       "row_key = $4::bytea), current_setting('synchronous_standby_names') <> ''";
            // Ends a session whose connection is lost, so that its last statement is either applied or not.
            case pg_statement::end_session: return "SELECT pg_terminate_backend($1::int4)";
            case pg_statement::has_session: return "SELECT 1 FROM pg_catalog.pg_stat_activity WHERE pid = $1::int4";
            case pg_statement::trace:
                return "SELECT e.version, substring(e.value FROM 9 FOR 8), pg_sequence_last_value('@.removals'), "
                       "current_setting('synchronous_standby_names') <> '' FROM @.tables t LEFT JOIN LATERAL (SELECT "
                       "version, "
                       "value FROM @.entities r WHERE r.table_id = t.id AND r.partition_key = $2::bytea AND r.row_key "
                       "= $3::bytea OFFSET 0) AS e ON true WHERE t.key = $1::bytea";
            // It commits after the transaction in question, so a standby that has this commit has that transaction as well.
            case pg_statement::confirm: return "UPDATE @.state SET value = value WHERE name = 'version'";
            case pg_statement::find_table: return "SELECT id FROM @.tables WHERE key = $1::bytea";
            case pg_statement::scan_partition:
                return "SELECT partition_key, row_key, value, version FROM @.entities "
                       "WHERE table_id = (SELECT id FROM @.tables WHERE key = $1::bytea) "
                       "AND partition_key = $2::bytea AND row_key >= $3::bytea ORDER BY row_key LIMIT $4::int8";
            case pg_statement::scan_partition_until:
                return "SELECT partition_key, row_key, value, version FROM @.entities "
                       "WHERE table_id = (SELECT id FROM @.tables WHERE key = $1::bytea) AND partition_key = $2::bytea "
                       "AND row_key >= $3::bytea AND row_key <= $5::bytea ORDER BY row_key LIMIT $4::int8";
            case pg_statement::scan_from:
                return "SELECT partition_key, row_key, value, version FROM @.entities "
                       "WHERE table_id = (SELECT id FROM @.tables WHERE key = $1::bytea) "
                       "AND (partition_key, row_key) >= ($2::bytea, $3::bytea) ORDER BY partition_key, row_key LIMIT "
                       "$4::int8";
            case pg_statement::scan_until:
                return "SELECT partition_key, row_key, value, version FROM @.entities "
                       "WHERE table_id = (SELECT id FROM @.tables WHERE key = $1::bytea) "
                       "AND (partition_key, row_key) >= ($2::bytea, $3::bytea) AND partition_key <= $5::bytea "
                       "ORDER BY partition_key, row_key LIMIT $4::int8";
            case pg_statement::count_partition:
                return "SELECT (SELECT count(*) FROM @.entities e WHERE e.table_id = t.id AND e.partition_key = "
                       "$2::bytea AND e.row_key >= $3::bytea AND e.row_key < $4::bytea) FROM @.tables t WHERE t.key = "
                       "$1::bytea";
            case pg_statement::count_range:
                return "SELECT (SELECT count(*) FROM @.entities e WHERE e.table_id = t.id AND (e.partition_key, "
                       "e.row_key) >= ($2::bytea, $3::bytea) AND e.partition_key < $4::bytea AND e.row_key >= "
                       "$5::bytea AND e.row_key < $6::bytea) FROM @.tables t WHERE t.key = $1::bytea";
            case pg_statement::list_tables:
                return "SELECT key, name FROM @.tables WHERE key >= $1::bytea ORDER BY key LIMIT $2::int8";
            case pg_statement::add_table:
                return "INSERT INTO @.tables (key, name) VALUES ($1::bytea, $2::bytea) "
                       "ON CONFLICT (key) DO NOTHING RETURNING id";
            case pg_statement::hold_table: return "SELECT id FROM @.tables WHERE key = $1::bytea FOR UPDATE";
            case pg_statement::lock_table: return "SELECT pg_advisory_xact_lock(#, $1::int4)";
            case pg_statement::forget_table:
                return "INSERT INTO @.forgotten VALUES ($1::int4, pg_current_xact_id()::text::int8)";
            case pg_statement::remove_table: return "DELETE FROM @.tables WHERE id = $1::int4";
            // The last column is true once no statement runs that began before the table was dropped: such a statement may still add a row.
            case pg_statement::forgotten:
                return "SELECT id, pg_snapshot_xmin(pg_current_snapshot())::text::int8 > dropped FROM @.forgotten "
                       "WHERE id > $1::int4 ORDER BY id LIMIT 1";
            case pg_statement::purge_rows:
                return "DELETE FROM @.entities WHERE ctid = ANY (ARRAY(SELECT ctid FROM @.entities WHERE table_id = "
                       "$1::int4 LIMIT 5000)) RETURNING 1";
            case pg_statement::purged: return "DELETE FROM @.forgotten WHERE id = $1::int4";
            case pg_statement::count: break;
        }
        return "";
    };
    return with_pg_schema(text(), schema);
}

/// The text of a statement that reads tables of format 1, whose values contain their versions.
inline std::string pg_earlier_text(std::string text, std::string const& schema) {
    auto const all = [&](std::string_view old, std::string_view made) {
        for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + made.size())) {
            text.replace(at, old.size(), made);
        }
    };
    all(schema + ".entities", schema + ".rows");
    all("value, version FROM", "value, NULL::int8 AS version FROM");
    return text;
}

/// A hash of the text: in a shared session no different statement has the same name.
ENTITABLE_DECL pg_statements::pg_statements(std::string const& schema, std::int64_t format) {
    for (std::size_t at = 0; at < texts_.size(); ++at) {
        texts_[at] = pg_statement_text(static_cast<pg_statement>(at), schema);
        if (format == 1) { texts_[at] = pg_earlier_text(std::move(texts_[at]), schema); }
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
    "name bytea NOT NULL);"
    "CREATE TABLE @.entities (table_id int4, partition_key bytea, row_key bytea, version int8 NOT NULL, value bytea "
    "NOT NULL, PRIMARY KEY (table_id, partition_key, row_key));"
    "CREATE TABLE @.forgotten (id int4 PRIMARY KEY, dropped int8 NOT NULL);"
    "CREATE SEQUENCE @.draws; PERFORM setval('@.draws', 1); CREATE SEQUENCE @.base; PERFORM setval('@.base', 1); "
    "CREATE SEQUENCE @.removals; PERFORM setval('@.removals', 1);"
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
    "@.key_text(r.row_key) AS row_key, length(r.value) AS bytes FROM @.entities r JOIN @.tables t ON t.id = "
    "r.table_id;";

inline constexpr std::int64_t pg_schema_version = 2;

inline bool is_pg_schema_name(std::string_view name) noexcept {
    bool good = !name.empty() && name.size() <= 40 && (name[0] < '0' || name[0] > '9');
    for (char const each : name) {
        good = good && ((each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '_');
    }
    return good;
}

ENTITABLE_DECL result<std::int64_t> check_pg_schema(postgres_options const& options, bool may_create,
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
                pg_tables_text, "INSERT INTO @.state VALUES ('version', 2), ('names_without_case', ",
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
    bool const earlier = version == "1";
    if (!earlier && version != std::to_string(pg_schema_version)) {
        bool const newer = version.size() > 1 || version[0] > '2';
        return failure{newer ? error_code::store_newer : error_code::store_foreign,
            text::joined({"the tables in the database have format ", version, "; this library supports formats 1 and ",
                std::to_string(pg_schema_version)})};
    }
    if ((state.at(0).bytes(1, 0) == "1") != without_case) {
        return failure{error_code::store_foreign,
            "the tables were created by a profile with different case sensitivity of table names "
            "(table_names_without_case)"};
    }
    return earlier ? std::int64_t{1} : pg_schema_version;
}

/// Rows of format 1 hold their versions, low byte first. The versions of removed rows are below those of their partitions and of the floors.
inline constexpr char pg_migration_text[] =
    "BEGIN; SELECT pg_advisory_xact_lock(#, 0); DO $do$ DECLARE greatest_version int8; BEGIN "
    "IF (SELECT value FROM @.state WHERE name = 'version' FOR UPDATE) = 1 THEN "
    "LOCK TABLE @.tables, @.partitions, @.rows, @.forgotten IN ACCESS EXCLUSIVE MODE; "
    "DROP VIEW IF EXISTS @.readable; "
    "CREATE TABLE @.entities (table_id int4, partition_key bytea, row_key bytea, version int8 NOT NULL, value bytea "
    "NOT NULL); "
    "INSERT INTO @.entities SELECT table_id, partition_key, row_key, get_byte(value, 8)::int8 + (get_byte(value, "
    "9)::int8 << 8) + (get_byte(value, 10)::int8 << 16) + (get_byte(value, 11)::int8 << 24) + (get_byte(value, "
    "12)::int8 << 32) + (get_byte(value, 13)::int8 << 40) + (get_byte(value, 14)::int8 << 48) + (get_byte(value, "
    "15)::int8 << 56), value FROM @.rows; "
    "SELECT greatest((SELECT max(version) FROM @.entities), (SELECT max(version) FROM @.partitions), (SELECT "
    "max(floor) "
    "FROM @.tables), (SELECT value FROM @.state WHERE name = 'version_floor'), 1) INTO greatest_version; "
    "DROP TABLE @.rows, @.partitions; ALTER TABLE @.entities ADD PRIMARY KEY (table_id, partition_key, row_key); "
    "ALTER TABLE @.tables DROP COLUMN floor; "
    "ALTER TABLE @.forgotten ADD COLUMN dropped int8 NOT NULL DEFAULT 0; "
    "CREATE SEQUENCE @.draws; PERFORM setval('@.draws', 1); CREATE SEQUENCE @.base; PERFORM setval('@.base', "
    "greatest_version); CREATE SEQUENCE @.removals; PERFORM setval('@.removals', 1); "
    "CREATE VIEW @.readable AS SELECT convert_from(t.name, 'UTF8') AS \"table\", @.key_text(r.partition_key) AS "
    "partition_key, @.key_text(r.row_key) AS row_key, length(r.value) AS bytes FROM @.entities r JOIN @.tables t ON "
    "t.id = r.table_id; "
    "DELETE FROM @.state WHERE name = 'version_floor'; UPDATE @.state SET value = 2 WHERE name = 'version'; "
    "END IF; END $do$; COMMIT";

ENTITABLE_DECL result<void> migrate_pg_schema(
    std::string const& schema, function_ref<result<std::vector<pg_rows>>(std::string const&)> run) {
    ENTITABLE_CHECK(run("SET statement_timeout = 0"));
    auto done = run(with_pg_schema(pg_migration_text, schema));
    if (done) { return {}; }
    failure why = std::move(done).as_failure();
    static_cast<void>(run("ROLLBACK"));
    return why;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
