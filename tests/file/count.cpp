// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Counts of whole tables in a file, which SQLite takes from its pages if a table has the file almost to itself.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace file_count {

struct sample {
    std::string place;
    std::string name;
    std::string text;
};
ENTITABLE(sample, partition_key(place), row_key(name), properties(text))

/// No key of it is greater than those of system rows.
struct numbered {
    std::string place;
    std::int32_t number{};
    std::string text;
};
ENTITABLE(numbered, partition_key(place), row_key(number), properties(text))

/// All of its keys have a prefix.
struct labelled {
    std::string place;
    std::int32_t number{};
    std::string text;
};
ENTITABLE(labelled, partition_key(place), row_key(literal("label:"), number), properties(text))

} // namespace file_count

using namespace entitable;
using entitable_test::temporary_folder;
using namespace file_count;

namespace {

file_options relaxed() {
    file_options made;
    made.durability = durability::relaxed;
    return made;
}

table<sample> opened(file_backend const& store, std::string const& name) {
    table<sample> made{store, name};
    made.create().value();
    return made;
}

/// Adds rows to partitions of `each` rows.
void add(table<sample> const& to, std::int32_t rows, std::int32_t each) {
    std::string const text(400, 'x');
    for (std::int32_t at = 0; at < rows;) {
        auto batch = to.batch();
        std::string const place = "place " + std::to_string(at / each);
        do {
            batch.insert(sample{place, std::to_string(1'000'000 + at), text});
            ++at;
        } while (at < rows && at % each != 0 && batch.size() < 100);
        batch.submit().value();
    }
}

void write_system_row(file_backend const& store, std::string const& partition, std::string const& key) {
    any_store const seam{store};
    call context;
    write_entity const request{"samples", mutation::insert_or_replace(row_builder{partition, key}.build())};
    seam.execute(request, context).value();
}

std::uint64_t visited(table<sample> const& of) {
    std::uint64_t seen = 0;
    of.scan_table().for_each([&](sample const&) { ++seen; }).value();
    return seen;
}

} // namespace

TEST_CASE("count of a table in a file: partitions of any size, other tables and system rows") {
    for (std::int32_t const each : {1, 3, 40, 1'500, 100'000}) {
        for (std::int32_t const rows : {1, 511, 513, 3'000}) {
            for (std::int32_t const others : {0, 1, 64, 65, 200}) {
                if (rows == 1 && others == 1) { continue; }
                CAPTURE(each, rows, others);
                temporary_folder const folder{temporary_folder::memory()};
                file_backend const store{folder / "samples.db", relaxed()};
                auto const before = opened(store, "before");
                auto const samples = opened(store, "samples");
                auto const behind = opened(store, "behind");
                add(before, others / 2, 10);
                add(samples, rows, each);
                add(behind, others - others / 2, 10);
                auto const count = [&] { return samples.scan_table().count().value(); };
                CHECK(count() == static_cast<std::uint64_t>(rows));
                for (char const* const partition : {"place 0", "place 7", "only system rows"}) {
                    write_system_row(store, partition, "~!one");
                    write_system_row(store, partition, "~!two");
                }
                CHECK(count() == static_cast<std::uint64_t>(rows));
                CHECK(visited(samples) == static_cast<std::uint64_t>(rows));
                // Keys beside those of system rows.
                for (char const* const key : {"~", "~ ", "~\"", "~~"}) { write_system_row(store, "place 0", key); }
                CHECK(count() == static_cast<std::uint64_t>(rows) + 4);
                CHECK(table<numbered>{store, "samples"}.scan_table().count().value() ==
                    static_cast<std::uint64_t>(rows) + 2);
                CHECK(table<labelled>{store, "samples"}.scan_table().count().value() == 0);
                table<labelled>{store, "samples"}.insert({"place 0", 1, ""}).value();
                table<labelled>{store, "samples"}.insert({"place 3", 2, ""}).value();
                CHECK(table<labelled>{store, "samples"}.scan_table().count().value() == 2);
                CHECK(
                    table<labelled>{store, "samples"}.where(fields<labelled>::place >= "place 1").count().value() == 1);
                CHECK(before.scan_table().count().value() == static_cast<std::uint64_t>(others / 2));
                CHECK(behind.scan_table().count().value() == static_cast<std::uint64_t>(others - others / 2));
            }
        }
    }
}

TEST_CASE("count of a table in a file: another store removes tables and creates them again") {
    temporary_folder const folder{temporary_folder::memory()};
    file_backend const store{folder / "samples.db", relaxed()};
    file_backend const writer{folder / "samples.db", relaxed()};
    auto const samples = opened(store, "samples");
    table<sample> const rewritten{writer, "samples"};
    for (int const round : {1, 2, 3}) {
        CAPTURE(round);
        add(rewritten, 2'000 * round, 1'000);
        CHECK(samples.scan_table().count().value() == static_cast<std::uint64_t>(2'000 * round));
        rewritten.drop().value();
        CHECK(samples.scan_table().count().error().code == error_code::table_not_found);
        rewritten.create().value();
        CHECK(samples.scan_table().count().value() == 0);
    }
}

TEST_CASE("count of a table in a file ends at its deadline") {
    temporary_folder const folder{temporary_folder::memory()};
    {
        file_backend const store{folder / "samples.db", relaxed()};
        add(opened(store, "samples"), 4'000, 1'000);
        store.checkpoint().value();
    }
    testing::manual_clock time;
    file_options options = relaxed();
    options.cache_bytes = 1; // pages are read from the file
    options.local.time = &time;
    file_backend const store{folder / "samples.db", options};
    table<sample> const samples{store, "samples"};
    CHECK(samples.scan_table().count().value() == 4'000);
    call_options brief;
    brief.timeout = std::chrono::milliseconds{100};
    time.advance_with_each_look(std::chrono::milliseconds{1}); // the file has more than 200 pages
    CHECK(samples.with(brief).scan_table().count().error().code == error_code::deadline_exceeded);
    brief.timeout = std::chrono::seconds{10};
    CHECK(samples.with(brief).scan_table().count().value() == 4'000);
    CHECK(samples.scan_table().count().value() == 4'000);
}
