// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The formats of the tables in a database: golden values of format 2, and format 1 as earlier versions of the library created it.

#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>

#include <support/catch.hpp>
#include <support/postgres_sql.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

using namespace entitable;
using namespace entitable_test;

namespace {

struct mark {
    std::string place;
    std::int32_t number{};
    std::int64_t value{};
};
ENTITABLE(mark, partition_key(place), row_key(number), properties(value))

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
    CHECK(old->create_view("shown", "marks", stored_properties<mark>()).error().code == error_code::store_read_only);
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

TEST_CASE("postgres formats: a migration under load: no wrong read, no lost write, and all programs write afterwards") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    constexpr std::int32_t rows = 2000;
    std::int64_t newest = 0;
    {
        auto const store = postgres_backend::connect(postgres_server(), options).value();
        table<mark> const marks{store, "marks"};
        marks.create().value();
        for (std::int32_t from = 0; from < rows; from += 100) {
            auto batch = marks.batch();
            for (std::int32_t number = from; number < from + 100; ++number) { batch.insert({"w", number, number}); }
            batch.submit().value();
        }
        newest = marks.get_stored("w", rows - 1).value().etag.timestamp().ticks;
    }
    into_format_1(options, newest + 1'000'000'000); // later than the clock
    std::atomic<bool> stop{false};
    std::atomic<std::size_t> reads{0};
    std::atomic<std::size_t> wrong{0};
    std::atomic<std::size_t> written_after{0};
    std::mutex mutex;
    std::map<std::string, std::size_t> refusals;
    std::map<std::int32_t, std::int64_t> acknowledged; // number, version
    std::vector<std::thread> programs;
    for (std::int32_t program = 0; program < 8; ++program) {
        programs.emplace_back([&, program] {
            std::optional<postgres_backend> store;
            for (std::int32_t turn = 0; !stop; ++turn) {
                if (!store) {
                    auto opened = postgres_backend::connect(postgres_server(), options);
                    if (!opened) { continue; }
                    store = *std::move(opened);
                }
                table<mark> const marks{*store, "marks"};
                std::int32_t const number = (turn * 7 + program) % rows;
                auto const read = marks.get("w", number);
                reads += read ? 1U : 0U;
                wrong += read && read->value != number ? 1U : 0U;
                std::int32_t const fresh = 1'000'000 * (program + 1) + turn;
                auto const made = marks.insert({"n", fresh, 1});
                std::lock_guard const lock{mutex};
                if (made) {
                    ++written_after;
                    acknowledged[fresh] = made->etag.timestamp().ticks;
                }
                for (auto const* const each : {read ? nullptr : &read.error(), made ? nullptr : &made.error()}) {
                    if (each != nullptr) { ++refusals[std::string{to_string(each->code)}]; }
                }
                // A program with the old tables open has to open them again.
                if (!read && read.error().code == error_code::store_foreign) { store.reset(); }
            }
        });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{300});
    CHECK(written_after == 0);
    CHECK(postgres_backend::migrate(postgres_server(), options));
    for (int waited = 0; waited < 600 && written_after < 200; ++waited) {
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
    stop = true;
    for (std::thread& each : programs) { each.join(); }
    CHECK(reads > 0);
    CHECK(wrong == 0);
    CHECK(written_after >= 200);
    for (auto const& [code, times] : refusals) {
        INFO(code << " " << times);
        CHECK((code == "StoreReadOnly" || code == "StoreForeign"));
    }
    auto const store = postgres_backend::connect(postgres_server(), options).value();
    table<mark> const marks{store, "marks"};
    CHECK(marks.where(fields<mark>::place == "w").count().value() == rows);
    CHECK(marks.where(fields<mark>::place == "n").count().value() == acknowledged.size());
    for (auto const& [number, version] : acknowledged) {
        CHECK(version > newest + 1'000'000'000);
        CHECK(marks.get_stored("n", number).value().etag.timestamp().ticks == version);
    }
}
