// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Views with typed columns: every type at its limits as psql shows it, random rows, names that collide, and who may make them.

#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>

#include <support/catch.hpp>
#include <support/postgres_server.hpp>
#include <support/postgres_sql.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

struct viewed {
    std::string place;
    std::int32_t number{};
    std::string text;
    std::int32_t count{};
    std::int64_t total{};
    double ratio{};
    bool open{};
    date_time at;
    guid id;
    binary bytes;
    std::optional<std::int32_t> level;
    std::optional<std::string> note;
};
ENTITABLE(viewed,
    partition_key(place),
    row_key(number),
    properties(text, count, total, ratio, open, at, id, bytes, level, note))

std::string hexadecimal(std::string_view bytes) {
    std::string made;
    for (char const each : bytes) {
        made += "0123456789abcdef"[static_cast<unsigned char>(each) >> 4U];
        made += "0123456789abcdef"[static_cast<unsigned char>(each) & 15U];
    }
    return made;
}

/// What psql has to show for `columns_text`.
std::string expected(viewed const& one) {
    std::string bits(8, '\0');
    auto number = std::bit_cast<std::uint64_t>(one.ratio);
    if (std::isnan(one.ratio)) { number = 0x7FF8000000000000U; } // PostgreSQL has one NaN
    for (std::size_t at = 8; at-- > 0; number >>= 8U) { bits[at] = static_cast<char>(number & 0xFFU); }
    std::string const bytes{reinterpret_cast<char const*>(one.bytes.data()), one.bytes.size()};
    return one.place + "|" + hexadecimal(one.text) + "|" + std::to_string(one.count) + "|" + std::to_string(one.total) +
        "|" + hexadecimal(bits) + "|" + (one.open ? "t" : "f") + "|" + std::to_string(one.at.ticks / 10) + "|" +
        one.id.to_string() + "|" + hexadecimal(bytes) + "|" + (one.level ? std::to_string(*one.level) : "absent") +
        "|" + (one.note ? hexadecimal(*one.note) : "absent");
}
/// Microseconds since 1601 are in numeric, which is exact.
constexpr char const* columns_text =
    "partition_key, encode(convert_to(text, 'UTF8'), 'hex'), count, total, encode(float8send(ratio), 'hex'), open, "
    "(extract(epoch FROM at) * 1000000 + 11644473600000000)::int8, id, encode(bytes, 'hex'), coalesce(level::text, "
    "'absent'), coalesce(encode(convert_to(note, 'UTF8'), 'hex'), 'absent')";

binary binary_of(std::string_view bytes) {
    binary made;
    for (char const each : bytes) { made.push_back(static_cast<std::byte>(each)); }
    return made;
}

struct shown_mark {
    std::string place;
    std::int32_t number{};
    std::int64_t value{};
};
ENTITABLE(shown_mark, partition_key(place), row_key(number), properties(value))

/// A store with one row in the table "Marks".
struct marked_store {
    postgres_options options = own_schema();
    postgres_backend store = postgres_backend::connect(postgres_server(), options).value();
    table<shown_mark> marks{store, "Marks"};

    marked_store() {
        marks.create().value();
        marks.insert({"w", 1, 7}).value();
    }
    [[nodiscard]] error refusal(std::string_view view, std::vector<stored_property> const& columns) const {
        auto made = store.create_view(view, "Marks", columns);
        REQUIRE_FALSE(made);
        return made.error();
    }
};

} // namespace

TEST_CASE("postgres views: the properties of an entity type, as its rows store them") {
    std::vector<stored_property> const all = stored_properties<viewed>();
    REQUIRE(all.size() == 10);
    CHECK(all.front() == stored_property{"text", edm_type::string, false});
    CHECK(all[5] == stored_property{"at", edm_type::date_time, false});
    CHECK(all.back() == stored_property{"note", edm_type::string, true});
}

TEST_CASE("postgres views: every type at its limits, and random rows, as psql shows them") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    auto const store = postgres_backend::connect(postgres_server(), options).value();
    table<viewed> const all{store, "Viewed"};
    all.create().value();
    std::vector<viewed> rows;
    auto const add = [&](auto const& change) {
        viewed made;
        made.place = "edges";
        made.number = static_cast<std::int32_t>(rows.size());
        change(made);
        rows.push_back(made);
    };
    for (double const each : {0.0, -0.0, 1.0, -1.5, 0.1, 1e300, -1e-300, std::numeric_limits<double>::max(),
             std::numeric_limits<double>::min(), std::numeric_limits<double>::denorm_min(), -2.5e-310,
             std::nextafter(std::numeric_limits<double>::min(), 0.0), std::numeric_limits<double>::infinity(),
             -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        add([&](viewed& made) { made.ratio = each; });
    }
    for (std::int32_t const each : {0, 1, -1, 255, -256, INT32_MAX, INT32_MIN}) {
        add([&](viewed& made) {
            made.count = each;
            made.level = each;
        });
    }
    for (std::int64_t const each : {std::int64_t{-1}, std::int64_t{1} << 40, INT64_MAX, INT64_MIN}) {
        add([&](viewed& made) { made.total = each; });
    }
    for (std::int64_t const each :
        {std::int64_t{0}, std::int64_t{19}, date_time::max_ticks, date_time::unix_epoch - 10, date_time::unix_epoch}) {
        add([&](viewed& made) { made.at.ticks = each; });
    }
    for (std::string const each : {"it's \"so\" \\ {}", "\xF0\x9F\x98\x80 \xC3\xA9", "\n\t|", ""}) {
        add([&](viewed& made) {
            made.text = each;
            made.note = each;
            made.bytes = binary_of(each);
            made.open = true;
        });
    }
    add([&](viewed& made) { made.bytes = binary_of(std::string(300, '\0')); });
    std::mt19937_64 random{38};
    for (int count = 0; count < 200; ++count) {
        add([&](viewed& made) {
            made.count = static_cast<std::int32_t>(random());
            made.total = static_cast<std::int64_t>(random());
            made.ratio = std::bit_cast<double>(random());
            made.at.ticks = static_cast<std::int64_t>(random() % date_time::max_ticks);
            for (auto& byte : made.id.bytes) { byte = static_cast<unsigned char>(random()); }
            for (std::uint64_t left = random() % 20; left > 0; --left) {
                made.bytes.push_back(static_cast<std::byte>(random()));
            }
            made.text = std::string(random() % 30, static_cast<char>('a' + random() % 26));
            if (random() % 2 == 0) { made.level = static_cast<std::int32_t>(random()); }
            if (random() % 2 == 0) { made.note = made.text; }
        });
    }
    for (viewed const& each : rows) { all.insert(each).value(); }
    store.create_view("all_viewed", "Viewed", stored_properties<viewed>()).value();
    std::string wanted;
    for (viewed const& each : rows) { wanted += (wanted.empty() ? "" : "\n") + expected(each); }
    // In a session of any setting.
    for (std::string const setting : {"",
             "SET extra_float_digits = -15; SET bytea_output = escape; SET TimeZone = 'Europe/Berlin'; "
             "SET DateStyle = German; SET standard_conforming_strings = off; SET "
             "escape_string_warning = off; SET IntervalStyle = iso_8601; "}) {
        CHECK(sql(options, setting + "SELECT " + columns_text + " FROM all_viewed ORDER BY row_key") == wanted);
    }
    CHECK(sql(options,
              "SELECT string_agg(attname || ' ' || format_type(atttypid, NULL), ',' ORDER BY attnum) FROM pg_attribute "
              "WHERE attrelid "
              "= 'all_viewed'::regclass") ==
        "partition_key text,row_key text,timestamp timestamp with time zone,text text,count integer,total bigint,ratio "
        "double "
        "precision,open boolean,at timestamp with time zone,id uuid,bytes bytea,level integer,note text");
    auto const stored = all.get_stored("edges", 0).value();
    CHECK(sql(options,
              "SELECT (extract(epoch FROM timestamp) * 1000000 + 11644473600000000)::int8 FROM all_viewed WHERE "
              "row_key = '" +
                  sql(options, "SELECT min(row_key) FROM all_viewed") + "'") ==
        std::to_string(stored.etag.timestamp().ticks / 10));
    CHECK(sql(options, "SELECT count(*) FROM all_viewed WHERE count > 0 AND NOT open") != "0");
    // A text that PostgreSQL cannot hold.
    viewed last = rows.front();
    last.number = 100'000;
    last.text = std::string("a\0b", 3);
    all.insert(last).value();
    CHECK(sql(options, "SELECT text FROM all_viewed WHERE text LIKE 'a%b' AND text LIKE '%000%'") == "a\\000b");
}

TEST_CASE("postgres views: other rows of the table, and rows of the library") {
    if (postgres_server() == nullptr) { return; }
    marked_store const in;
    // Without the property, with another type, with a smaller one, and without any property.
    row_table const loose{in.store, "Marks"};
    loose.insert(entity{"x", "1"}.set("other", 5)).value();
    loose.insert(entity{"x", "2"}.set("value", "seven")).value();
    loose.insert(entity{"x", "3"}.set("value", std::int32_t{-9})).value();
    loose.insert(entity{"x", "4"}).value();
    in.store.create_view("marks", "MARKS", stored_properties<shown_mark>()).value(); // names of tables without case
    CHECK(sql(in.options,
              "SELECT partition_key || coalesce(value::text, '-') FROM marks ORDER BY partition_key, row_key") ==
        "w7\nx-\nx-\nx-9\nx-");
    // The keys before, at and after those of system rows.
    for (std::string const key : {"007e0020", "007e0021", "007e0021006f", "007e0022"}) {
        static_cast<void>(sql(in.options,
            "INSERT INTO entities SELECT table_id, partition_key, '\\x" + key +
                "', version, value FROM entities WHERE partition_key = '\\x0077' LIMIT 1"));
    }
    CHECK(sql(in.options, "SELECT string_agg(row_key, ',' ORDER BY row_key) FROM marks WHERE row_key LIKE '~%'") ==
        "~ ,~\"");
    // A table that is dropped and created again has the same view.
    table<shown_mark> const again{in.store, "Marks"};
    again.drop().value();
    CHECK(sql(in.options, "SELECT count(*) FROM marks") == "0");
    again.create().value();
    again.insert({"v", 2, 8}).value();
    CHECK(sql(in.options, "SELECT partition_key || value FROM marks") == "v8");
    CHECK(sql(in.options, "SELECT count(*) FROM entities WHERE partition_key = '\\x0076'") ==
        "1"); // the library's own tables are as before
}

TEST_CASE("postgres views: names that collide are refused, and name the offender") {
    if (postgres_server() == nullptr) { return; }
    marked_store const in;
    std::vector<stored_property> const value = stored_properties<shown_mark>();
    static_cast<void>(
        sql(in.options, "CREATE TABLE mine (n int4); CREATE VIEW own AS SELECT 1 AS n; CREATE INDEX by_n ON mine (n)"));
    for (std::string const taken : {"mine", "own", "by_n"}) {
        error const why = in.refusal(taken, value);
        CHECK(why.code == error_code::table_already_exists);
        CHECK(why.message.find(taken) != std::string::npos);
    }
    // Names of the library, also those of format 1, and names that need quotes.
    for (std::string const name : {"state", "tables", "entities", "rows", "partitions", "forgotten", "draws", "base",
             "removals", "readable", "entities_pkey", "", "1st", "Upper", "a b", "a\"b", "a;b", "\xC3\xA9"}) {
        INFO(name);
        CHECK(in.refusal(name, value).code == error_code::invalid_input);
    }
    CHECK(in.refusal(std::string(41, 'a'), value).code == error_code::invalid_input);
    for (std::string const name : {"partition_key", "row_key", "timestamp", ""}) {
        error const why = in.refusal("marks", {{name, edm_type::string, false}});
        CHECK(why.code == error_code::invalid_input);
        CHECK(why.message.find("\"" + name + "\"") != std::string::npos);
    }
    CHECK(in.refusal("marks", {{std::string("a\0b", 3), edm_type::string, false}}).code == error_code::invalid_input);
    CHECK(in.refusal("marks", {{std::string(64, 'c'), edm_type::string, false}}).code == error_code::invalid_input);
    CHECK(in.refusal("marks", {{"n", edm_type::int32, false}, {"n", edm_type::string, false}}).code ==
        error_code::invalid_input);
    CHECK(in.store.create_view("marks", "Missing", value).error().code == error_code::table_not_found);
    CHECK(in.store.create_view("marks", "a'; DROP SCHEMA x; --", value).error().code ==
        error_code::invalid_resource_name);
    CHECK(sql(in.options, "SELECT to_regclass('marks') IS NULL") == "t"); // nothing was made
    // The connection is usable after each refusal.
    CHECK(in.marks.get("w", 1).value().value == 7);
    postgres_backend gone = in.store;
    postgres_backend const taken{std::move(gone)};
    CHECK(gone.create_view("marks", "Marks", value).error().code == error_code::invalid_input); // NOLINT: after a move
    CHECK(taken.create_view("marks", "Marks", {}).has_value());                                 // without properties
    CHECK(sql(in.options, "SELECT partition_key FROM marks") == "w");
}

TEST_CASE("postgres views: a view is replaced, and names of columns are quoted") {
    if (postgres_server() == nullptr) { return; }
    marked_store const in;
    in.store.create_view("marks", "Marks", stored_properties<shown_mark>()).value();
    in.store.create_view("marks", "Marks", stored_properties<shown_mark>()).value();
    // Whatever the library's statements use as marks, and what ends a quote.
    std::string const odd = R"(a"b'c\d@e^f%g~h#i)";
    std::vector<stored_property> columns{{odd, edm_type::int64, false}, {"Value", edm_type::string, true}};
    columns.push_back({std::string(63, 'c'), edm_type::date_time, false});
    columns.push_back({"@", edm_type::date_time, false});
    in.store.create_view("marks", "Marks", columns).value();
    CHECK(sql(in.options, "SELECT attname FROM pg_attribute WHERE attrelid = 'marks'::regclass AND attnum = 4") == odd);
    CHECK(sql(in.options, "SELECT count(*) FROM marks WHERE \"@\" IS NULL") == "1");
    // As many as an entity can have.
    std::vector<stored_property> many;
    entity wide{"wide", "1"};
    for (std::int32_t number = 0; number < 252; ++number) {
        many.push_back({"p" + std::to_string(number), edm_type::int32, false});
        wide.set(many.back().name, number);
    }
    row_table{in.store, "Marks"}.insert(wide).value();
    in.store.create_view("marks", "Marks", many).value();
    CHECK(sql(in.options, "SELECT p0 + p100 + p251 FROM marks WHERE partition_key = 'wide'") == "351");
    // A view that another one uses stays as it is.
    static_cast<void>(sql(in.options, "CREATE VIEW over AS SELECT p1 FROM marks"));
    CHECK_FALSE(in.store.create_view("marks", "Marks", {}));
    CHECK(sql(in.options, "SELECT count(p1) FROM over") == "1");
    CHECK(in.marks.get("w", 1).value().value == 7);
}

TEST_CASE("postgres views: a call that has ended makes nothing; other databases and roles get typed errors") {
    if (postgres_server() == nullptr) { return; }
    marked_store const in;
    std::vector<stored_property> const value = stored_properties<shown_mark>();
    call late;
    late.deadline = system_clock().steady() - std::chrono::seconds{1};
    CHECK(in.store.create_view("marks", "Marks", value, late).error().code == error_code::deadline_exceeded);
    std::string const role = own_schema().schema;
    static_cast<void>(sql(in.options,
        "CREATE ROLE " + role + " LOGIN; GRANT USAGE ON SCHEMA " + in.options.schema + " TO " + role +
            "; GRANT ALL ON ALL TABLES IN SCHEMA " + in.options.schema + " TO " + role +
            "; GRANT ALL ON ALL SEQUENCES IN SCHEMA " + in.options.schema + " TO " + role));
    {
        auto const plain = postgres_backend::connect(std::string{postgres_server()} + " user=" + role, in.options);
        INFO((plain ? "" : plain.error().to_string()));
        REQUIRE(plain);
        CHECK(plain->create_view("marks", "Marks", value).error().code == error_code::authorization_failure);
        CHECK(table<shown_mark>{*plain, "Marks"}.get("w", 1).value().value == 7);
    }
    static_cast<void>(sql(in.options, "DROP OWNED BY " + role + "; DROP ROLE " + role));
    std::string const database = own_schema().schema;
    static_cast<void>(
        sql(in.options, "CREATE DATABASE " + database + " TEMPLATE template0 LOCALE 'C' ENCODING 'LATIN1'"));
    {
        auto const other =
            postgres_backend::connect(std::string{postgres_server()} + " dbname=" + database, own_schema()).value();
        table<shown_mark>{other, "Marks"}.create().value();
        error const why = other.create_view("marks", "Marks", value).error();
        CHECK(why.code == error_code::not_supported);
        CHECK(why.message.find("LATIN1") != std::string::npos);
    }
    static_cast<void>(sql(in.options, "DROP DATABASE " + database));
}
