// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/validate.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/postgres/detail/pg_view.hpp>
#include <entitable/local/postgres/impl/pg_schema.ipp>
#include <entitable/local/postgres/impl/pg_statements.ipp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Names of relations of formats 1 and 2. A view of such a name could be taken for one of them by a program of an earlier version.
inline constexpr std::string_view pg_relation_names[] = {"state", "tables", "entities", "rows", "partitions",
    "forgotten", "draws", "base", "removals", "readable", "entities_pkey", "state_pkey", "tables_pkey",
    "tables_key_key", "tables_id_seq", "forgotten_pkey", "rows_pkey", "partitions_pkey"};
/// Columns that every view has.
inline constexpr std::string_view pg_view_columns[] = {"partition_key", "row_key", "timestamp"};
/// Longest identifier that PostgreSQL does not cut.
inline constexpr std::size_t pg_longest_name = 63;
/// The comment of a view by which the library knows that it made the view.
inline constexpr std::string_view pg_view_comment = "made by create_view";

/// Functions that the views use. `property_values` maps the type and name of each property of a row to the text of its value. A text with a NUL
/// character is not a text of PostgreSQL: its escape format is shown.
inline constexpr char pg_view_functions[] = R"(
CREATE OR REPLACE FUNCTION @.time_of(ticks int8) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
'SELECT (timestamp ''1601-01-01'' + (ticks / 864000000000)::int4 * interval ''1 day'' +
mod(ticks, 864000000000) / 10 * interval ''1 microsecond'') AT TIME ZONE ''UTC''';
CREATE OR REPLACE FUNCTION @.little_endian(value bytea, first int4, size int4) RETURNS int8 LANGUAGE plpgsql IMMUTABLE STRICT
PARALLEL SAFE AS $body$ DECLARE number int8 := 0; BEGIN
FOR at IN 0 .. size - 1 LOOP number := number | (get_byte(value, first + at)::int8 << (8 * at)); END LOOP;
RETURN number; END $body$;
CREATE OR REPLACE FUNCTION @.property_values(value bytea) RETURNS jsonb LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET extra_float_digits = 1 AS $body$
DECLARE
  names text[] := '{}'; texts text[] := '{}';
  name_at int4 := 16; at int4 := 16 + @.little_endian(value, 4, 4)::int4;
  kind int4; size int4; name text; shown text; bits int8; fraction int8; exponent int4; magnitude float8;
BEGIN
  FOR index IN 1 .. @.little_endian(value, 2, 2) LOOP
    kind := get_byte(value, name_at); size := @.little_endian(value, name_at + 1, 2);
    name := convert_from(substring(value FROM name_at + 4 FOR size), 'UTF8');
    name_at := name_at + 3 + size;
    IF kind >= 128 THEN
      kind := kind - 128; at := at + 1;
      CONTINUE WHEN get_byte(value, at - 1) = 0;
    END IF;
    IF kind IN (1, 8) THEN size := @.little_endian(value, at, 4); at := at + 4;
    ELSE size := CASE kind WHEN 2 THEN 4 WHEN 5 THEN 1 WHEN 7 THEN 16 ELSE 8 END; END IF;
    IF kind = 1 THEN
      IF position(E'\\x00'::bytea IN substring(value FROM at + 1 FOR size)) > 0 THEN
        shown := encode(substring(value FROM at + 1 FOR size), 'escape');
      ELSE
        shown := convert_from(substring(value FROM at + 1 FOR size), 'UTF8');
      END IF;
    ELSIF kind IN (7, 8) THEN shown := encode(substring(value FROM at + 1 FOR size), 'hex');
    ELSIF kind = 4 THEN
      bits := @.little_endian(value, at, 8); exponent := ((bits >> 52) & 2047)::int4; fraction := bits & 4503599627370495;
      IF exponent = 2047 THEN
        shown := CASE WHEN fraction <> 0 THEN 'NaN' WHEN bits < 0 THEN '-Infinity' ELSE 'Infinity' END;
      ELSE
        IF exponent = 0 THEN magnitude := fraction::float8 * '4.9406564584124654e-324'::float8;
        ELSE magnitude := (fraction + 4503599627370496)::float8 * power(2::float8, -52) * power(2::float8, exponent - 1023);
        END IF;
        shown := CASE WHEN bits < 0 THEN '-' ELSE '' END || magnitude::text;
      END IF;
    ELSIF kind = 2 THEN
      bits := @.little_endian(value, at, 4);
      shown := (CASE WHEN bits >= 2147483648 THEN bits - 4294967296 ELSE bits END)::text;
    ELSIF kind = 5 THEN shown := (get_byte(value, at) <> 0)::text;
    ELSE shown := @.little_endian(value, at, 8)::text; END IF;
    at := at + size;
    names := names || (kind || ':' || name); texts := texts || shown;
  END LOOP;
  RETURN jsonb_object(names, texts);
END $body$;
)";

/// Appends a text between quotes that end with two.
inline void append_pg_quoted(std::string& to, char quote, std::string_view text) {
    to += quote;
    for (char const each : text) {
        to += each;
        // A role may have turned standard_conforming_strings off or on: texts are written as E'...'.
        if (each == quote || (each == '\\' && quote == '\'')) { to += each; }
    }
    to += quote;
}

/// The text of a property in the values of a row.
inline void append_pg_property(std::string& to, edm_type type, std::string_view name) {
    std::string key;
    text::append_decimal(key, static_cast<std::uint64_t>(type));
    key += ':';
    key += name;
    to += "(p.texts ->> E";
    append_pg_quoted(to, '\'', key);
    to += ')';
}

inline void append_pg_column(std::string& to, stored_property const& column) {
    auto const property = [&](std::string_view before, std::string_view after) {
        to += before;
        append_pg_property(to, column.type, column.name);
        to += after;
    };
    switch (column.type) {
        case edm_type::string: property("", ""); break;
        case edm_type::int32: property("", "::int4"); break;
        case edm_type::int64: // a member of 64 bits reads Int32, too
            property("coalesce(", ", ");
            append_pg_property(to, edm_type::int32, column.name);
            to += ")::int8";
            break;
        case edm_type::float64: property("", "::float8"); break;
        case edm_type::boolean: property("", "::bool"); break;
        case edm_type::date_time: property("@.time_of(", "::int8)"); break;
        case edm_type::guid: property("", "::uuid"); break;
        case edm_type::binary: property("decode(", ", 'hex')"); break;
    }
    to += " AS ";
    append_pg_quoted(to, '"', column.name);
}

ENTITABLE_DECL result<void> check_pg_view(
    std::string_view view, std::string_view table, std::span<stored_property const> columns) {
    auto const refused = [](std::string text) { return failure{error_code::invalid_input, std::move(text)}; };
    if (!is_pg_schema_name(view)) {
        return refused("the name of a view must consist of 1 to 40 lower-case letters, digits and _, and must not "
                       "begin with a digit");
    }
    for (std::string_view const taken : pg_relation_names) {
        if (view == taken) {
            return refused(text::joined({"the view name \"", view, "\" is a name of the library's own tables"}));
        }
    }
    ENTITABLE_CHECK(validate_table_name(table));
    for (std::size_t at = 0; at < columns.size(); ++at) {
        std::string const& name = columns[at].name;
        auto const column = [&](std::string_view problem) {
            return refused(text::joined(
                {"the property \"", text::printable(name), "\" cannot be a column of the view: ", problem}));
        };
        if (name.empty() || name.size() > pg_longest_name || name.find('\0') != std::string::npos) {
            return column("a name of a column has 1 to 63 bytes and no NUL character");
        }
        for (std::string_view const taken : pg_view_columns) {
            if (name == taken) { return column("every view has a column of that name"); }
        }
        for (std::size_t other = 0; other < at; ++other) {
            if (columns[other].name == name) { return column("it is listed twice"); }
        }
    }
    return {};
}

ENTITABLE_DECL result<void> make_pg_view(std::string const& schema, std::string_view view, std::string_view key,
    std::span<stored_property const> columns, function_ref<result<std::vector<pg_rows>>(std::string const&)> run) {
    auto const roll_back = [&](failure why) {
        static_cast<void>(run("ROLLBACK"));
        return why;
    };
    std::string table_id = "(SELECT id FROM @.tables WHERE key = E'\\\\x";
    for (char const each : key) {
        auto const byte = static_cast<unsigned char>(each);
        table_id += "0123456789abcdef"[byte >> 4U];
        table_id += "0123456789abcdef"[byte & 15U];
    }
    table_id += "'::bytea)";
    std::string const name = text::joined({schema, ".", view});
    // Two programs that make the same view wait for each other.
    auto seen = run(with_pg_schema(
        text::joined({"BEGIN; SELECT pg_advisory_xact_lock(#, 0); SELECT current_setting('server_encoding'), ",
            "coalesce((", table_id, ")::text, ''), coalesce(to_regclass('", name,
            "')::oid::text, ''), coalesce(obj_description(to_regclass('", name, "'), 'pg_class'), '')"}),
        schema));
    if (!seen) { return roll_back(std::move(seen).as_failure()); }
    pg_rows const& now = seen->back();
    if (now.bytes(0, 0) != "UTF8") {
        return roll_back({error_code::not_supported,
            text::joined({"a view needs a database in UTF8; this one is in ", now.bytes(0, 0)})});
    }
    if (now.bytes(0, 1).empty()) {
        return roll_back({error_code::table_not_found, "the table of the view does not exist"});
    }
    bool const exists = !now.bytes(0, 2).empty();
    if (exists && now.bytes(0, 3) != pg_view_comment) {
        return roll_back({error_code::table_already_exists,
            text::joined({"the schema has a relation \"", view, "\" that create_view did not make"})});
    }
    std::string made = exists ? text::joined({"DROP VIEW ", name, ";"}) : std::string{};
    made += with_pg_schema(pg_view_functions, schema);
    made += text::joined({"CREATE VIEW ", name, " AS SELECT "});
    made += with_pg_schema("@.key_text(e.partition_key) AS partition_key, @.key_text(e.row_key) AS row_key, "
                           "@.time_of(e.version) AS \"timestamp\"",
        schema);
    for (stored_property const& each : columns) {
        std::string column;
        append_pg_column(column, each);
        made += ", ";
        // Names of properties may contain what stands for the schema elsewhere.
        made += each.type == edm_type::date_time ? text::joined({schema, std::string_view{column}.substr(1)}) : column;
    }
    // System rows of the library have row keys from "~!" to before "~\"".
    made += with_pg_schema(
        text::joined({" FROM @.entities e, LATERAL (SELECT @.property_values(e.value) AS texts OFFSET 0) p WHERE "
                      "e.table_id = ",
            table_id, " AND (e.row_key < E'\\\\x007e0021'::bytea OR e.row_key >= E'\\\\x007e0022'::bytea);"}),
        schema);
    made += text::joined({"COMMENT ON VIEW ", name, " IS '", pg_view_comment, "'; COMMIT"});
    auto done = run(made);
    if (!done) { return roll_back(std::move(done).as_failure()); }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
