// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/postgres/detail/pg_schema.hpp>
#include <entitable/local/postgres/impl/pg_statements.ipp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

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
