// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// The statements over the tables of version 2.

#include <entitable/core/text.hpp>
#include <entitable/local/postgres/detail/pg_schema.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The next version. Both sequences only grow: `draws` by one for each version, `base` only in here, under a lock, when the sum has fallen
/// behind the clock by more than a millisecond (source: "Tables in PostgreSQL, version 2", docs/stored_formats.md). The sum that is drawn after
/// another one was drawn is therefore greater. The lock is not waited for: without it the version is late, and still greater.
inline constexpr std::string_view pg_next_version =
    "(nextval('@.draws') + CASE WHEN pg_sequence_last_value('@.base') + pg_sequence_last_value('@.draws') >= "
    "$?::int8 - 10000 THEN pg_sequence_last_value('@.base') WHEN pg_try_advisory_lock(#, -1) THEN CASE WHEN "
    "setval('@.base', greatest(pg_sequence_last_value('@.base'), $?::int8 - pg_sequence_last_value('@.draws'))) IS "
    "NOT NULL AND pg_advisory_unlock(#, -1) THEN pg_sequence_last_value('@.base') END ELSE "
    "pg_sequence_last_value('@.base') END)";

/// Raises `base` if the sum has fallen behind the clock. Returns no null.
inline constexpr std::string_view pg_on_time = pg_next_version.substr(pg_next_version.find("CASE"));

/// The next version if the sum is known to be near the clock.
inline constexpr std::string_view pg_next_version_on_time = "nextval('@.draws') + pg_sequence_last_value('@.base')";

/// Replaces each @ with the name of the schema, each # with the number of the locks, each ~N with the next version, at the time of
/// parameter N, each %N with the raise of `base` to that time, and each ^ with the next version if the sum is known to be near the clock. In tables of format 1 the entities are in `rows`, and their versions in the values.
inline std::string with_pg_schema(std::string_view text, std::string const& schema) {
    std::string made;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '@') {
            made += schema;
        } else if (text[at] == '#') {
            text::append_decimal(made, pg_lock_class);
        } else if (text[at] == '^') {
            made += with_pg_schema(pg_next_version_on_time, schema);
        } else if (text[at] == '~' || text[at] == '%') {
            std::string draw{text[at] == '~' ? pg_next_version : pg_on_time.substr(0, pg_on_time.size() - 1)};
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

/// A statement, with every table qualified by the schema.
struct pg_statement_text {
    pg_statement which;
    std::string_view text;
};

inline constexpr pg_statement_text pg_statement_texts[] = {
    // For shared sessions, in the transaction that it is sent with: its settings end with the transaction.
    {pg_statement::settings,
        "SELECT set_config('statement_timeout', $1::int8::text, true), set_config('enable_seqscan', "
        "'off', "
        "true), set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true), "
        "set_config('client_min_messages', 'warning', true)"},
    {pg_statement::begin, "BEGIN ISOLATION LEVEL READ COMMITTED"},
    {pg_statement::begin_read, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"},
    {pg_statement::commit, "COMMIT"},
    {pg_statement::rollback, "ROLLBACK"},
    {pg_statement::set_timeout, "SELECT set_config('statement_timeout', $1::int8::text, true)"},
    // Writes of one row. Whatever may create or remove a row holds the lock of its key, and shares that of the partition. The row
    // itself is the lock of everything else. A version is drawn under these locks, so it is greater than all that the key had.
    // `insert`: no row means that there is one already, and a table that does not exist has no number, which is refused (23502).
    // `insert_on_time`: a row that exists is refused (23505), which costs less than ON CONFLICT where there is none.
    // Otherwise no row of an insert or upsert means that the table does not exist, and `look` tells the rest.
    {pg_statement::insert,
        "INSERT INTO @.entities VALUES ((SELECT id FROM @.tables WHERE key = $1::bytea AND "
        "pg_advisory_xact_lock_shared($6::int8) IS NOT NULL AND pg_advisory_xact_lock($7::int8) IS NOT "
        "NULL), $2::bytea, $3::bytea, ~5, $4::bytea) ON CONFLICT (table_id, partition_key, row_key) DO "
        "NOTHING RETURNING version, pg_sequence_last_value('@.removals')"},
    {pg_statement::insert_on_time,
        "INSERT INTO @.entities SELECT id, $2::bytea, $3::bytea, ^, $4::bytea FROM @.tables WHERE key = $1::bytea AND "
        "pg_advisory_xact_lock_shared($5::int8) IS NOT NULL AND pg_advisory_xact_lock($6::int8) IS NOT NULL RETURNING "
        "version"},
    // The row may have been replaced since its first version was drawn, by a statement that this one waited for.
    {pg_statement::upsert,
        "INSERT INTO @.entities AS e SELECT id, $2::bytea, $3::bytea, ~5, $4::bytea FROM @.tables WHERE key = "
        "$1::bytea AND pg_advisory_xact_lock_shared($6::int8) IS NOT NULL AND pg_advisory_xact_lock($7::int8) IS NOT "
        "NULL ON CONFLICT (table_id, partition_key, row_key) DO UPDATE SET version = CASE WHEN e.version < "
        "excluded.version THEN excluded.version ELSE ^ END, value = excluded.value RETURNING version"},
    {pg_statement::upsert_on_time,
        "INSERT INTO @.entities AS e SELECT id, $2::bytea, $3::bytea, ^, $4::bytea FROM @.tables WHERE key = "
        "$1::bytea AND pg_advisory_xact_lock_shared($5::int8) IS NOT NULL AND pg_advisory_xact_lock($6::int8) IS NOT "
        "NULL ON CONFLICT (table_id, partition_key, row_key) DO UPDATE SET version = CASE WHEN e.version < "
        "excluded.version THEN excluded.version ELSE ^ END, value = excluded.value RETURNING version"},
    {pg_statement::replace,
        "UPDATE @.entities SET version = ~5, value = $4::bytea WHERE table_id = (SELECT id FROM @.tables WHERE key = "
        "$1::bytea) AND partition_key = $2::bytea AND row_key = $3::bytea AND ($6::int8 = -1 OR version = $6::int8) "
        "RETURNING version"},
    {pg_statement::replace_on_time,
        "UPDATE @.entities SET version = ^, value = $4::bytea WHERE table_id = (SELECT id FROM @.tables WHERE key = "
        "$1::bytea) AND partition_key = $2::bytea AND row_key = $3::bytea AND ($5::int8 = -1 OR version = $5::int8) "
        "RETURNING version"},
    {pg_statement::remove,
        "DELETE FROM @.entities WHERE table_id = (SELECT id FROM @.tables WHERE key = "
        "$1::bytea AND pg_advisory_xact_lock_shared($5::int8) IS NOT NULL AND "
        "pg_advisory_xact_lock($6::int8) IS NOT NULL) AND partition_key = $2::bytea AND row_key = "
        "$3::bytea AND ($4::int8 = -1 OR version = $4::int8) RETURNING nextval('@.removals')"},
    {pg_statement::look,
        "SELECT e.version FROM @.tables t LEFT JOIN LATERAL (SELECT version FROM @.entities r WHERE "
        "r.table_id = t.id AND r.partition_key = $2::bytea AND r.row_key = $3::bytea OFFSET 0) AS e ON "
        "true WHERE t.key = $1::bytea"},
    // A transaction excludes other transactions of the partition, and everything that creates or removes its rows.
    {pg_statement::lock_partition,
        "SELECT id FROM @.tables WHERE key = $1::bytea AND pg_advisory_xact_lock_shared(#, id) IS NOT "
        "NULL AND pg_advisory_xact_lock($2::int8) IS NOT NULL"},
    // Starts after the lock is taken, so it sees the latest commit. Here and below a row is looked up by a subquery, so that no
    // planner reads the whole partition.
    {pg_statement::read_rows,
        "SELECT k.row_key, e.version, e.value FROM unnest($3::bytea[]) AS k (row_key), LATERAL (SELECT "
        "version, value FROM @.entities r WHERE r.table_id = (SELECT id FROM @.tables WHERE key = "
        "$1::bytea) AND r.partition_key = $2::bytea AND r.row_key = k.row_key FOR UPDATE) AS e"},
    {pg_statement::read_row,
        "SELECT version, value FROM @.entities WHERE table_id = $1::int4 AND partition_key = $2::bytea "
        "AND row_key = $3::bytea FOR UPDATE"},
    {pg_statement::draw, "SELECT id, pg_current_xact_id()::text::int8, ~2 FROM @.tables WHERE key = $1::bytea"},
    {pg_statement::get,
        "SELECT e.value, e.version FROM @.tables t LEFT JOIN LATERAL (SELECT value, version FROM "
        "@.entities r WHERE r.table_id = t.id AND r.partition_key = $2::bytea AND r.row_key = $3::bytea "
        "OFFSET 0) AS e ON true WHERE t.key = $1::bytea"},
    {pg_statement::put,
        "INSERT INTO @.entities VALUES ($1::int4, $2::bytea, $3::bytea, $5::int8, $4::bytea) "
        "ON CONFLICT (table_id, partition_key, row_key) DO UPDATE SET version = excluded.version, value "
        "= excluded.value"},
    {pg_statement::put_many,
        "INSERT INTO @.entities SELECT $1::int4, $2::bytea, k, n, v FROM unnest($3::bytea[], "
        "$4::bytea[], $5::int8[]) AS x (k, v, n) "
        "ON CONFLICT (table_id, partition_key, row_key) DO UPDATE SET version = excluded.version, value "
        "= excluded.value"},
    // Rows that do not exist: the lock of the partition excludes whatever could create them. One that exists is refused (23505).
    {pg_statement::put_new,
        "INSERT INTO @.entities SELECT $1::int4, $2::bytea, unnest($3::bytea[]), $5::int8, unnest($4::bytea[])"},
    {pg_statement::erase,
        "DELETE FROM @.entities WHERE table_id = $1::int4 AND partition_key = $2::bytea AND row_key = "
        "$3::bytea RETURNING nextval('@.removals')"},
    {pg_statement::erase_many,
        "DELETE FROM @.entities WHERE ctid = ANY (ARRAY(SELECT (SELECT ctid FROM @.entities r WHERE "
        "r.table_id = $1::int4 AND r.partition_key = $2::bytea AND r.row_key = k.row_key) "
        "FROM unnest($3::bytea[]) AS k (row_key))) RETURNING nextval('@.removals')"},
    {pg_statement::outcome,
        "SELECT pg_xact_status($1::int8::text::xid8), "
        "(SELECT version FROM @.entities WHERE table_id = $2::int4 AND partition_key = $3::bytea AND "
        "row_key = $4::bytea), current_setting('synchronous_standby_names') <> ''"},
    // Ends a session whose connection is lost, so that its last statement is either applied or not.
    {pg_statement::end_session, "SELECT pg_terminate_backend($1::int4)"},
    {pg_statement::has_session, "SELECT 1 FROM pg_catalog.pg_stat_activity WHERE pid = $1::int4"},
    {pg_statement::trace,
        "SELECT e.version, substring(e.value FROM 9 FOR 8), pg_sequence_last_value('@.removals'), "
        "current_setting('synchronous_standby_names') <> '' FROM @.tables t LEFT JOIN LATERAL (SELECT "
        "version, "
        "value FROM @.entities r WHERE r.table_id = t.id AND r.partition_key = $2::bytea AND r.row_key "
        "= $3::bytea OFFSET 0) AS e ON true WHERE t.key = $1::bytea"},
    // It commits after the transaction in question, so a standby that has this commit has that transaction as well.
    {pg_statement::confirm, "UPDATE @.state SET value = value WHERE name = 'version'"},
    {pg_statement::find_table, "SELECT id FROM @.tables WHERE key = $1::bytea"},
    {pg_statement::scan_partition,
        "SELECT partition_key, row_key, value, version FROM @.entities "
        "WHERE table_id = (SELECT id FROM @.tables WHERE key = $1::bytea) "
        "AND partition_key = $2::bytea AND row_key >= $3::bytea ORDER BY row_key LIMIT $4::int8"},
    {pg_statement::scan_partition_until,
        "SELECT partition_key, row_key, value, version FROM @.entities "
        "WHERE table_id = (SELECT id FROM @.tables WHERE key = $1::bytea) AND partition_key = $2::bytea "
        "AND row_key >= $3::bytea AND row_key <= $5::bytea ORDER BY row_key LIMIT $4::int8"},
    {pg_statement::scan_from,
        "SELECT partition_key, row_key, value, version FROM @.entities "
        "WHERE table_id = (SELECT id FROM @.tables WHERE key = $1::bytea) "
        "AND (partition_key, row_key) >= ($2::bytea, $3::bytea) ORDER BY partition_key, row_key LIMIT "
        "$4::int8"},
    {pg_statement::scan_until,
        "SELECT partition_key, row_key, value, version FROM @.entities "
        "WHERE table_id = (SELECT id FROM @.tables WHERE key = $1::bytea) "
        "AND (partition_key, row_key) >= ($2::bytea, $3::bytea) AND partition_key <= $5::bytea "
        "ORDER BY partition_key, row_key LIMIT $4::int8"},
    // Rows between the last two parameters, the system rows, do not count. In a partition they are counted apart, which costs less
    // than a condition on each row. The table is looked up once: rows of a correlated subquery cost more.
    {pg_statement::count_partition,
        "SELECT (SELECT id FROM @.tables WHERE key = $1::bytea), count(*) - (SELECT count(*) FROM @.entities s WHERE "
        "s.table_id = (SELECT id FROM @.tables WHERE key = $1::bytea) AND s.partition_key = $2::bytea AND s.row_key >= "
        "$3::bytea AND s.row_key < $4::bytea) FROM @.entities e WHERE e.table_id = (SELECT id FROM @.tables WHERE key "
        "= $1::bytea) AND e.partition_key = $2::bytea"},
    {pg_statement::count_rows,
        "SELECT (SELECT id FROM @.tables WHERE key = $1::bytea), count(*) - (SELECT count(*) FROM @.entities s WHERE "
        "s.table_id = (SELECT id FROM @.tables WHERE key = $1::bytea) AND s.partition_key = $2::bytea AND s.row_key >= "
        "$5::bytea AND s.row_key < $6::bytea) FROM @.entities e WHERE e.table_id = (SELECT id FROM @.tables WHERE key "
        "= $1::bytea) AND e.partition_key = $2::bytea AND e.row_key >= $3::bytea AND e.row_key < $4::bytea"},
    {pg_statement::count_range,
        "SELECT (SELECT id FROM @.tables WHERE key = $1::bytea), count(*) FILTER (WHERE row_key < "
        "$7::bytea OR row_key >= $8::bytea) FROM @.entities WHERE table_id = (SELECT id FROM @.tables "
        "WHERE key = $1::bytea) AND (partition_key, row_key) >= ($2::bytea, $3::bytea) AND "
        "partition_key < $4::bytea AND row_key >= $5::bytea AND row_key < $6::bytea"},
    {pg_statement::count_table,
        "SELECT (SELECT id FROM @.tables WHERE key = $1::bytea), count(*) FILTER (WHERE row_key < "
        "$2::bytea OR row_key >= $3::bytea) FROM @.entities WHERE table_id = (SELECT id FROM @.tables "
        "WHERE key = $1::bytea)"},
    // For a count over many partitions: the server chooses the plan, with its statistics. Ends with the transaction.
    {pg_statement::count_plan,
        "SELECT set_config('enable_seqscan', 'on', true), set_config('enable_bitmapscan', 'on', true), "
        "set_config('plan_cache_mode', 'auto', true)"},
    {pg_statement::list_tables, "SELECT key, name FROM @.tables WHERE key >= $1::bytea ORDER BY key LIMIT $2::int8"},
    {pg_statement::add_table,
        "INSERT INTO @.tables (key, name) VALUES ($1::bytea, $2::bytea) "
        "ON CONFLICT (key) DO NOTHING RETURNING id"},
    {pg_statement::hold_table, "SELECT id FROM @.tables WHERE key = $1::bytea FOR UPDATE"},
    {pg_statement::lock_table, "SELECT pg_advisory_xact_lock(#, $1::int4)"},
    {pg_statement::forget_table, "INSERT INTO @.forgotten VALUES ($1::int4, pg_current_xact_id()::text::int8)"},
    {pg_statement::remove_table, "DELETE FROM @.tables WHERE id = $1::int4 RETURNING nextval('@.removals')"},
    // The last column tells whether no statement is left that began before the table was dropped, and may still add a row.
    {pg_statement::forgotten,
        "SELECT id, pg_snapshot_xmin(pg_current_snapshot())::text::int8 > dropped FROM @.forgotten "
        "WHERE id > $1::int4 ORDER BY id LIMIT 1"},
    {pg_statement::purge_rows,
        "DELETE FROM @.entities WHERE ctid = ANY (ARRAY(SELECT ctid FROM @.entities WHERE table_id = "
        "$1::int4 LIMIT 5000)) RETURNING 1"},
    {pg_statement::purged, "DELETE FROM @.forgotten WHERE id = $1::int4"},
    // Inserts of several calls. `base` is raised once, before the locks; each version is drawn under the locks of its row. The order of the
    // results is that of the arrays. A table that does not exist is refused (23502), as is a row that exists (23505).
    {pg_statement::insert_many,
        "INSERT INTO @.entities SELECT (SELECT id FROM @.tables WHERE key = $1::bytea), p, r, ^, v FROM "
        "unnest($2::bytea[], $3::bytea[], $4::bytea[], $6::int8[], $7::int8[]) AS k (p, r, v, pl, rl) WHERE (SELECT "
        "%5) "
        "IS NOT NULL AND pg_advisory_xact_lock_shared(pl) IS NOT NULL AND pg_advisory_xact_lock(rl) IS NOT NULL "
        "RETURNING version"},
    // Reads of several calls, a row for each, with its number: the arrays are the outer side of a nested loop. No row means no table.
    {pg_statement::get_many,
        "SELECT e.value, e.version, k.n FROM unnest($2::bytea[], $3::bytea[]) WITH ORDINALITY AS k (p, r, n) CROSS "
        "JOIN "
        "@.tables t LEFT JOIN LATERAL (SELECT value, version FROM @.entities r WHERE r.table_id = t.id AND "
        "r.partition_key = k.p AND r.row_key = k.r OFFSET 0) AS e ON true WHERE t.key = $1::bytea"},
};

/// Whether each statement stands at its number.
constexpr bool are_pg_texts_in_order() noexcept {
    std::size_t at = 0;
    for (pg_statement_text const& each : pg_statement_texts) {
        if (each.which != static_cast<pg_statement>(at++)) { return false; }
    }
    return at == static_cast<std::size_t>(pg_statement::count);
}
static_assert(are_pg_texts_in_order());
// A connection keeps a bit for each.
static_assert(static_cast<std::size_t>(pg_statement::count) <= 64);

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
        texts_[at] = with_pg_schema(pg_statement_texts[at].text, schema);
        if (format == 1) { texts_[at] = pg_earlier_text(std::move(texts_[at]), schema); }
        std::uint64_t hash = 0xcbf29ce484222325U; // FNV-1a
        for (char const each : texts_[at]) { hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3U; }
        names_[at] = "entitable_";
        for (int shift = 60; shift >= 0; shift -= 4) {
            names_[at] += "0123456789abcdef"[hash >> static_cast<unsigned>(shift) & 0xFU];
        }
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
