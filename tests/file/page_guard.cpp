// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The checksum of each page: its form, what it detects, and that pages without it are refused.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/local/file/detail/page_guard.hpp>
#include <entitable/local/file/detail/schema.hpp>

#include <sqlite3.h>
#include <support/catch.hpp>
#include <support/entities.hpp>
#include <support/temporary_folder.hpp>

#include <fstream>
#include <random>
#include <set>
#include <sstream>

using namespace entitable;
using namespace entitable_test;
using detail::page_hash;

namespace {

constexpr std::size_t page_bytes = detail::file_format::page_bytes;

/// Several pages of rows, some rows longer than a page.
void make_file(std::string const& path) {
    file_backend const store{path};
    table<note> const notes{store, "notes"};
    notes.create().value();
    for (std::int32_t number = 0; number < 60; ++number) {
        notes.insert({"a", number, std::string(number % 20 == 0 ? 20'000 : 500, 'x')}).value();
    }
}

std::string content(std::string const& path) {
    std::ostringstream all;
    all << std::ifstream{path, std::ios::binary}.rdbuf();
    return all.str();
}

/// In place, as a disk would.
void change_byte(std::string const& path, std::size_t at) {
    std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
    file.seekg(static_cast<std::streamoff>(at));
    char const changed = static_cast<char>(file.get() ^ 1);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(changed);
}

std::string random_page() {
    std::mt19937_64 random{1};
    std::string page;
    while (page.size() < page_bytes) { page += static_cast<char>(random()); }
    return page;
}

} // namespace

TEST_CASE("the hash of pages matches its documented values") {
    std::string page(page_bytes, '\0');
    CHECK(page_hash::of(page.data(), 1) == 0x2964EA6330030183U);
    CHECK(page_hash::of(page.data(), 2) == 0xB11E366C79C9C514U);
    for (std::size_t index = 0; index < page.size(); ++index) { page[index] = static_cast<char>(index % 251); }
    CHECK(page_hash::of(page.data(), 1) == 0x0E57A2EA734569DEU);
}

TEST_CASE("the hash of pages detects typical damage by disks and programs") {
    for (bool const zeros : {true, false}) {
        std::string page = zeros ? std::string(page_bytes, '\0') : random_page();
        std::set<std::uint64_t> seen{page_hash::of(page.data(), 7)};
        std::size_t tried = 1;
        auto const look = [&](std::string const& changed) {
            seen.insert(page_hash::of(changed.data(), 7));
            ++tried;
        };
        auto const flip = [&](std::size_t bit) { page[bit / 8] = static_cast<char>(page[bit / 8] ^ (1 << (bit % 8))); };
        constexpr std::size_t bits = (page_bytes - 8) * 8;
        for (std::size_t bit = 0; bit < bits; bit += 13) {
            flip(bit);
            look(page);
            if (bit % 103 == 0) { // and together with the same bit of later words, as a broken memory line does
                for (std::size_t other = bit + 64; other < std::min(bits, bit + std::size_t{64} * 20); other += 64) {
                    flip(other);
                    look(page);
                    flip(other);
                }
            }
            flip(bit);
        }
        CHECK(seen.size() == tried);
        std::set<std::uint64_t> numbers;
        for (std::uint64_t number = 1; number <= 1000; ++number) { numbers.insert(page_hash::of(page.data(), number)); }
        CHECK(numbers.size() == 1000);
        for (std::size_t first = 0; !zeros && first < page_bytes; first += 512) { // sectors
            std::string changed = page;
            changed.replace(first, 504, 504, '\0');
            CHECK(page_hash::of(changed.data(), 7) != page_hash::of(page.data(), 7));
            changed = page;
            changed.replace(first, 504, page, (first + 512) % page_bytes, 504);
            CHECK(page_hash::of(changed.data(), 7) != page_hash::of(page.data(), 7));
        }
        for (std::size_t first = 0; !zeros && first + 24 <= page_bytes; first += 8) { // words that changed places
            std::string swapped = page;
            swapped.replace(first, 8, page, first + 8, 8).replace(first + 8, 8, page, first, 8);
            CHECK(page_hash::of(swapped.data(), 7) != page_hash::of(page.data(), 7));
        }
    }
}

TEST_CASE("each page of a file ends with its checksum, whichever journal is used") {
    for (auto const journal : {file_journal::automatic, file_journal::rollback}) {
        temporary_folder const folder;
        std::string const path = folder / "notes.db";
        file_options options;
        options.journal = journal;
        { file_backend const empty{path, options}; }
        make_file(path);
        std::string const bytes = content(path);
        REQUIRE(bytes.size() % page_bytes == 0);
        CHECK(bytes.size() / page_bytes > 10);
        CHECK(bytes[20] == 8);
        for (std::size_t page = 0; page < bytes.size() / page_bytes; ++page) {
            char const* const at = bytes.data() + page * page_bytes;
            CHECK(row_format::load<std::uint64_t>(at + page_bytes - 8) == page_hash::of(at, page + 1));
        }
    }
}

TEST_CASE("a page that is changed while its file is open is refused when it is read") {
    temporary_folder const folder;
    std::string const path = folder / "notes.db";
    make_file(path);
    std::size_t const size = content(path).size();
    std::size_t refused = 0;
    for (std::size_t page = 1; page < size / page_bytes; ++page) {
        file_options options;
        options.cache_bytes = 1; // equivalent to none
        file_backend const store{path, options};
        table<note> const notes{store, "notes"};
        CHECK(notes.scan_table().count().value() == 60);
        change_byte(path, page * page_bytes + 4000);
        auto const again = file_backend::open(path); // opening reads some pages itself
        auto const counted =
            again ? table<note>{*again, "notes"}.scan_table().count() : result<std::uint64_t>{failure{again.error()}};
        CHECK((!counted || *counted == 60)); // some pages belong to no row
        if (!counted) {
            CHECK(counted.error().code == error_code::store_corrupt);
            CHECK(counted.error().effect == effect::none);
            CHECK(counted.error().detail == "page " + std::to_string(page + 1));
            ++refused;
        }
        change_byte(path, page * page_bytes + 4000);
        CHECK(notes.scan_table().count().value() == 60);
    }
    CHECK(refused > 10);
}

TEST_CASE("a changed header is refused, even by a store that has the file open") {
    temporary_folder const folder;
    std::string const path = folder / "notes.db";
    make_file(path);
    for (std::size_t const at : {std::size_t{17}, std::size_t{20}, std::size_t{70}}) {
        CAPTURE(at);
        file_backend const store{path};
        table<note> const notes{store, "notes"};
        change_byte(path, at);
        CHECK(notes.get("a", 1).error().code == error_code::store_corrupt);
        CHECK_FALSE(file_backend::open(path));
        change_byte(path, at);
        CHECK(notes.get("a", 1));
    }
}

TEST_CASE("pages that another program writes into a file are refused") {
    temporary_folder const folder;
    std::string const path = folder / "notes.db";
    make_file(path);
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
    REQUIRE(sqlite3_exec(database, "DELETE FROM entitable_row WHERE row_key > X'30303030303030303330'", nullptr,
                nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(database);
    auto const opened = file_backend::open(path);
    CHECK((opened ? table<note>{*opened, "notes"}.scan_table().count().error().code : opened.error().code) ==
        error_code::store_corrupt);
}
