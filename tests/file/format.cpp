// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The stored form of a file, as docs/stored_formats.md registers it, read with SQLite alone.

#include <entitable/file.hpp>
#include <entitable/local/file/sqlite_store.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <sqlite3.h>
#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <set>

using namespace entitable;
using namespace entitable_test;
using detail::row_hash;

namespace {

/// All rows of a statement, columns separated by `|`, rows by line breaks; blobs as hexadecimal digits.
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

TEST_CASE("the hash of rows matches its documented values") {
    CHECK(row_hash::of("", 0) == 0xB88939FF394CC7C0U);
    CHECK(row_hash::of("abc", 0) == 0xA99D83C2F659DA06U);
    CHECK(row_hash::of("abc", 1) == 0xCF78E131DB48C1C2U);
    CHECK(row_hash::of("business01", 0) == 0x4C37273478706DF7U);
    CHECK(row_hash::of("business0000000007", 0) == 0xBD1F2DA601F1FD25U);
    CHECK(row_hash::of("Nobody inspects the spammish repetition", 0) == 0x445A2D62998ABDECU);
    std::string numbers;
    for (char number = 0; number < 100; ++number) { numbers += number; }
    CHECK(row_hash::of(numbers, 0) == 0xF36A55EB8B412415U);
}

TEST_CASE("the hash of rows detects typical damage by disks and programs") {
    for (bool const zeros : {true, false}) {
        for (std::size_t const size : {0U, 1U, 3U, 7U, 8U, 9U, 15U, 16U, 17U, 31U, 32U, 33U, 64U, 65U, 100U, 160U}) {
            std::string bytes;
            std::uint64_t random = size;
            for (std::size_t index = 0; index < size; ++index) {
                random = random * 6364136223846793005U + 1442695040888963407U;
                bytes += zeros ? '\0' : static_cast<char>(random >> 56U);
            }
            std::set<std::uint64_t> seen{row_hash::of(bytes, 5)};
            std::size_t tried = 1;
            auto const look = [&](std::string_view changed) {
                seen.insert(row_hash::of(changed, 5));
                ++tried;
            };
            auto const flip = [&](std::size_t bit) {
                bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
            };
            // Each bit, and each together with the same bit of a later word, as a broken memory line does.
            for (std::size_t bit = 0; bit < size * 8; ++bit) {
                flip(bit);
                look(bytes);
                for (std::size_t other = bit + 64; other < size * 8; other += 64) {
                    flip(other);
                    look(bytes);
                    flip(other);
                }
                flip(bit);
            }
            for (std::size_t cut = 0; cut < size; ++cut) { look(std::string_view{bytes}.substr(0, cut)); }
            look(bytes + '\0');
            CHECK(seen.size() == tried);
            for (std::size_t first = 0; !zeros && first + 16 <= size; first += 8) { // words that changed places
                for (std::size_t second = first + 8; second + 8 <= size; second += 8) {
                    std::string swapped = bytes;
                    swapped.replace(first, 8, bytes, second, 8).replace(second, 8, bytes, first, 8);
                    CHECK(row_hash::of(swapped, 5) != row_hash::of(bytes, 5));
                }
            }
        }
    }
}

namespace {

/// A connection to a new file in a write transaction.
struct new_file {
    temporary_folder folder;
    file_options options;
    sqlite_store::opened_file file{sqlite_store::open(folder / "new.db", options).value()};
    detail::connection& on{file.first};
    new_file() { REQUIRE(on.run(detail::sql::begin_write) == detail::stepped::done); }
};

std::string bytes_of(std::string_view name, std::int32_t number) {
    row_builder builder{"pk", "rk"};
    builder.add(name, value_view{number});
    return std::string{builder.build().payload()};
}

} // namespace

TEST_CASE("a stored row can only be read with its own keys, and every changed bit is detected") {
    new_file in;
    auto const hash = detail::partition_checksum(1, "pk");
    std::vector<std::string> all{"value", "", bytes_of("A", 7), std::string(16, '\1')};
    for (std::size_t size = 0; size < 8; ++size) { // as if they were rows, with descriptors of this number of bytes
        all.emplace_back(std::string{"\1\0\1\0", 4} + static_cast<char>(size) + std::string(11, '\0') + "1234567");
    }
    for (std::string const& given : all) {
        std::string in_place = given;
        std::string stored{detail::pack_row(in.on, in_place, hash, "rk").value()};
        CHECK(detail::unpack_row(in.on, stored, hash, "rk") == given);
        auto const opens = [&](std::int64_t table, std::string_view partition, std::string_view row) {
            return detail::unpack_row(in.on, stored, detail::partition_checksum(table, partition), row).has_value();
        };
        CHECK(opens(1, "pk", "rk"));
        CHECK_FALSE(opens(2, "pk", "rk"));
        CHECK_FALSE(opens(1, "pkr", "k"));
        CHECK_FALSE(opens(1, "rk", "pk"));
        for (std::size_t bit = 0; bit < stored.size() * 8; ++bit) {
            stored[bit / 8] = static_cast<char>(stored[bit / 8] ^ (1 << (bit % 8)));
            CHECK_FALSE(opens(1, "pk", "rk"));
            stored[bit / 8] = static_cast<char>(stored[bit / 8] ^ (1 << (bit % 8)));
        }
        CHECK_FALSE(detail::unpack_row(in.on, std::string_view{stored}.substr(stored.size() - 11), hash, "rk"));
    }
}

TEST_CASE("rows with the same properties share a shape, and an abandoned transaction stores no shape") {
    new_file in;
    auto const hash = detail::partition_checksum(1, "pk");
    auto const number_of = [&](std::string bytes) {
        auto const stored = detail::pack_row(in.on, bytes, hash, "rk").value();
        return row_format::load<std::uint32_t>(stored.data() + stored.size() - 12);
    };
    CHECK(number_of(bytes_of("A", 7)) == 1);
    CHECK(number_of(bytes_of("B", 7)) == 2);
    CHECK(number_of(bytes_of("A", 8)) == 1);
    CHECK(number_of("value") == 0);
    CHECK(number_of(bytes_of(std::string(255, 'n'), 7)) == 3);
    CHECK(number_of(row_builder{"pk", "rk"}.build().payload().data()) == 0);
    in.on.roll_back();
    REQUIRE(in.on.run(detail::sql::begin_write) == detail::stepped::done);
    CHECK(number_of(bytes_of("B", 7)) == 1);
    std::string many = "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 4096) "
                       "INSERT INTO entitable_shape SELECT i, CAST(i AS BLOB) FROM n";
    REQUIRE(in.on.run_text(many.c_str()) == detail::stepped::done);
    CHECK(number_of(bytes_of("C", 7)) == 0);
    CHECK(number_of(bytes_of("B", 8)) == 1);
    std::string last = bytes_of("C", 9);
    std::string const stored{detail::pack_row(in.on, last, hash, "rk").value()};
    CHECK(detail::unpack_row(in.on, stored, hash, "rk") == bytes_of("C", 9));
}

TEST_CASE("a connection can use more shapes than it caches") {
    new_file in;
    auto const hash = detail::partition_checksum(1, "pk");
    std::vector<std::string> stored;
    for (std::int32_t index = 0; index < 100; ++index) {
        std::string bytes = bytes_of("N" + std::to_string(index % 70), index);
        stored.emplace_back(detail::pack_row(in.on, bytes, hash, "rk").value());
    }
    for (std::int32_t index = 0; index < 100; ++index) {
        CHECK(detail::unpack_row(in.on, stored[static_cast<std::size_t>(index)], hash, "rk") ==
            bytes_of("N" + std::to_string(index % 70), index));
    }
}

TEST_CASE("a file with one entity consists of the documented bytes") {
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
        "CREATE TABLE entitable_shape (id INTEGER PRIMARY KEY, shape BLOB NOT NULL UNIQUE)\n"
        "CREATE TABLE entitable_state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID\n"
        "CREATE TABLE entitable_table (id INTEGER PRIMARY KEY, key BLOB UNIQUE, name TEXT NOT NULL)\n");
    CHECK(answer(path, "SELECT id, hex(key), name FROM entitable_table") == "1|6F7264657273|Orders\n");
    CHECK(answer(path, "SELECT name, value FROM entitable_state") ==
        "names_without_case|1\nversion_bound|5\nwrite_ahead_log|1\n");
    CHECK(answer(path, "SELECT id, hex(shape) FROM entitable_shape") == "1|010001000400000002010041\n");
    // Timestamp, value, number of the shape and eight bytes of checksum; the keys in the order of the service.
    CHECK(answer(path, "SELECT table_id, hex(partition_key), hex(row_key), hex(value) FROM entitable_row") ==
        "1|70FFBD9E|72|"
        "0500000000000000"
        "07000000"
        "01000000"
        "9F44EBC81C2DBE58\n");
}
