// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The formats of the tables in a database: golden values of format 2, and format 1 as earlier versions of the library created it.

#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>

#include <support/catch.hpp>
#include <support/postgres_server.hpp>
#include <support/temporary_folder.hpp>

#include <cstdio>
#include <fstream>

using namespace entitable;
using namespace entitable_test;

namespace {

struct mark {
    std::string place;
    std::int32_t number{};
    std::int64_t value{};
};
ENTITABLE(mark, partition_key(place), row_key(number), properties(value))

/// The output of psql for statements in a schema, without line ends at its end.
std::string sql(postgres_options const& options, std::string const& text) {
    temporary_folder const folder;
    std::ofstream{folder / "text.sql"} << "SET client_min_messages = warning; SET search_path = " << options.schema
                                       << ";\n"
                                       << text;
    std::FILE* const from = ::popen(
        ("psql -X -q -A -t -v ON_ERROR_STOP=1 \"$ENTITABLE_POSTGRES\" -f " + (folder / "text.sql") + " 2>&1").c_str(),
        "r");
    REQUIRE(from != nullptr);
    std::string said;
    char buffer[4096];
    while (std::size_t const got = std::fread(buffer, 1, sizeof buffer, from)) { said.append(buffer, got); }
    INFO(said);
    REQUIRE(::pclose(from) == 0);
    while (!said.empty() && said.back() == '\n') { said.pop_back(); }
    return said;
}

/// Makes tables of format 2 what an earlier version of the library would have made. The versions of removed rows are up to `floor`.
void into_format_1(postgres_options const& options, std::int64_t floor) {
    std::string value = "value";
    for (int byte = 0; byte < 8; ++byte) {
        value = "set_byte(" + value + ", " + std::to_string(8 + byte) + ", ((version >> " + std::to_string(8 * byte) +
            ") & 255)::int4)";
    }
    sql(options,
        "ALTER TABLE entities RENAME TO rows; UPDATE rows SET value = " + value + R"(;
ALTER TABLE rows DROP COLUMN version;
DROP SEQUENCE draws, base, removals;
CREATE TABLE partitions (table_id int4, partition_key bytea, version int8 NOT NULL, PRIMARY KEY (table_id, partition_key));
INSERT INTO partitions SELECT DISTINCT table_id, partition_key, )" +
            std::to_string(floor) + R"( FROM rows;
ALTER TABLE tables ADD COLUMN floor int8 NOT NULL DEFAULT 0;
ALTER TABLE forgotten DROP COLUMN dropped;
UPDATE state SET value = 1 WHERE name = 'version';
INSERT INTO state VALUES ('version_floor', 0))");
}

} // namespace

TEST_CASE("postgres formats: golden values of format 2") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    auto const store = postgres_backend::connect(postgres_server(), options).value();
    table<mark> const marks{store, "Marks"};
    marks.create().value();
    auto const made = marks.insert({"w\xF0\x9F\x98\x80", 1, 7}).value();
    CHECK(sql(options, "SELECT key, name FROM tables") == "\\x6d61726b73|\\x4d61726b73");
    CHECK(sql(options, "SELECT encode(partition_key, 'hex') FROM entities") == "0077d83dde00");
    CHECK(sql(options, "SELECT version FROM entities") == std::to_string(made.etag.timestamp().ticks));
    // A row of version 1 but for its Timestamp.
    CHECK(sql(options,
              "SELECT encode(substring(value FROM 1 FOR 8), 'hex') || encode(substring(value FROM 17), 'hex') FROM "
              "entities") == "010001000800000003050076616c75650700000000000000");
    CHECK(sql(options, "SELECT string_agg(name || value, ' ' ORDER BY name) FROM state") ==
        "names_without_case1 version2");
    CHECK(sql(options, "SELECT partition_key || row_key FROM readable").substr(0, 5) == "w\xF0\x9F\x98\x80");
}

TEST_CASE("postgres formats: format 1 is read, refuses writes, and is migrated by a call; versions continue") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    etag before;
    {
        auto const store = postgres_backend::connect(postgres_server(), options).value();
        table<mark> const marks{store, "marks"};
        marks.create().value();
        before = marks.insert({"w", 1, 7}).value().etag;
        marks.insert({"w", 2, 8}).value();
    }
    std::int64_t const floor = before.timestamp().ticks + 1'000'000'000'000; // a day ahead
    into_format_1(options, floor);
    auto const old = postgres_backend::connect(postgres_server(), options);
    REQUIRE(old);
    table<mark> const marks{*old, "marks"};
    CHECK(marks.get_stored("w", 1).value().etag == before);
    CHECK(marks.scan_table().to().value().size() == 2);
    CHECK(marks.where(fields<mark>::place == "w").count().value() == 2);
    for (error const& each : {marks.insert({"w", 3, 9}).error(), marks.insert_or_replace({"w", 1, 9}).error(),
             marks.insert_or_merge({"w", 1, 9}).error(), marks.remove("w", 1, any_etag).error(), marks.drop().error(),
             table<mark>{*old, "others"}.create().error()}) {
        CHECK(each.code == error_code::store_read_only);
        CHECK(each.message.find("migrate") != std::string::npos);
    }
    {
        auto batch = marks.batch();
        batch.insert({"w", 4, 1}).insert({"w", 5, 1});
        CHECK(batch.submit().error().code == error_code::store_read_only);
    }
    for (int round = 0; round < 2; ++round) { // the second one finds nothing to do
        REQUIRE(postgres_backend::migrate(postgres_server(), options));
    }
    CHECK(marks.get("w", 1).error().code == error_code::store_foreign); // as a program of an earlier version
    auto const store = postgres_backend::connect(postgres_server(), options).value();
    table<mark> const now{store, "marks"};
    CHECK(now.get_stored("w", 1).value().etag == before);
    CHECK(now.get("w", 2).value().value == 8);
    CHECK(now.insert({"w", 3, 9}).value().etag.timestamp().ticks > floor);
    CHECK(now.replace({"w", 1, 9}, before).value().etag.timestamp().ticks > floor);
    CHECK(sql(options, "SELECT value FROM state WHERE name = 'version'") == "2"); // earlier versions: StoreNewer
    CHECK(sql(options, "SELECT count(*) FROM readable") == "3");
    CHECK(now.drop());
    CHECK(sql(options, "SELECT (SELECT count(*) FROM entities) + (SELECT count(*) FROM forgotten)") == "0");
    auto missing = own_schema();
    CHECK(postgres_backend::migrate(postgres_server(), missing).error().code == error_code::store_foreign);
}
