// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The stored form of a file of tables, as docs/stored_formats.md registers it: read with SQLite and nothing else.

#include <entitable/file.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <sqlite3.h>
#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

using namespace entitable;
using namespace entitable_test;
using detail::xxh64;

namespace {

/// All rows of a statement, columns by `|`, rows by line ends; blobs as hexadecimal digits.
std::string answer(std::string const& path, std::string const& text) {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK);
    std::string found;
    auto const each_row = [](void* out, int columns, char** values, char**) {
        for (int column = 0; column < columns; ++column) {
            *static_cast<std::string*>(out) +=
                std::string{column == 0 ? "" : "|"} + (values[column] ? values[column] : "-");
        }
        *static_cast<std::string*>(out) += "\n";
        return 0;
    };
    CHECK(sqlite3_exec(database, text.c_str(), each_row, &found, nullptr) == SQLITE_OK);
    sqlite3_close(database);
    return found;
}

} // namespace

TEST_CASE("the hash is XXH64") {
    CHECK(xxh64::of("", 0) == 0xEF46DB3751D8E999U);
    CHECK(xxh64::of("a", 0) == 0xD24EC4F1A98C6E5BU);
    CHECK(xxh64::of("abc", 0) == 0x44BC2CF5AD770999U);
    CHECK(xxh64::of("Nobody inspects the spammish repetition", 0) == 0xFBCEA83C8A378BF1U);
    CHECK(xxh64::of("abc", 1) != xxh64::of("abc", 0));
}

TEST_CASE("a sealed row opens with its own keys only") {
    std::string bytes = "value";
    detail::seal(bytes, detail::partition_checksum(1, "pk"), "rk");
    CHECK(bytes.size() == 13);
    std::string_view view = bytes;
    CHECK(detail::unseal(view, detail::partition_checksum(1, "pk"), "rk"));
    CHECK(view == "value");
    auto const opens = [&](std::int64_t table, std::string_view partition, std::string_view row) {
        std::string_view other = bytes;
        return detail::unseal(other, detail::partition_checksum(table, partition), row);
    };
    CHECK_FALSE(opens(2, "pk", "rk"));
    CHECK_FALSE(opens(1, "pkr", "k"));
    CHECK_FALSE(opens(1, "rk", "pk"));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
        CHECK_FALSE(opens(1, "pk", "rk"));
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    }
    std::string_view cut = "1234567";
    CHECK_FALSE(detail::unseal(cut, 0, ""));
}

TEST_CASE("the file of one entity, byte for byte") {
    temporary_folder const folder;
    std::string const path = folder / "golden.db";
    testing::manual_clock time;
    time.set(date_time{5});
    {
        file_options options;
        options.local.time = &time;
        file_backend const store{path, options};
        row_table orders{store, "Orders"};
        orders.create().value();
        entity order{"p\xEF\xBD\x9E", "r"};
        order.set("A", std::int32_t{7});
        orders.insert(order).value();
    }
    CHECK(answer(path, "PRAGMA application_id; PRAGMA user_version; PRAGMA page_size; PRAGMA journal_mode") ==
        "1701737570\n1\n8192\nwal\n");
    CHECK(answer(path, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name") ==
        "CREATE TABLE entitable_row (table_id INTEGER NOT NULL, partition_key BLOB NOT NULL, row_key BLOB NOT NULL, "
        "value BLOB NOT NULL, PRIMARY KEY (table_id, partition_key, row_key)) WITHOUT ROWID\n"
        "CREATE TABLE entitable_state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID\n"
        "CREATE TABLE entitable_table (id INTEGER PRIMARY KEY, key BLOB UNIQUE, name TEXT NOT NULL)\n");
    CHECK(answer(path, "SELECT id, hex(key), name FROM entitable_table") == "1|6F7264657273|Orders\n");
    CHECK(answer(path, "SELECT name, value FROM entitable_state") == "version_bound|5\n");
    // Row format 1 with one property, and eight bytes of checksum; the keys in the order of the service.
    CHECK(answer(path, "SELECT table_id, hex(partition_key), hex(row_key), hex(value) FROM entitable_row") ==
        "1|70FFBD9E|72|"
        "0100010004000000"
        "0500000000000000"
        "02010041"
        "07000000"
        "0D0C0D37A93EE1AE\n");
}
