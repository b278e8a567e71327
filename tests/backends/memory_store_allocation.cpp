// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What memory_store does when memory runs out, and that it frees memory it no longer needs.

#include <entitable/local/memory/memory_store.hpp>

#include <support/catch.hpp>
#include <support/failing_new_definitions.hpp>
#include <support/store.hpp>

#include <atomic>
#include <chrono>
#include <initializer_list>
#include <new>
#include <optional>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

/// Runs `action`, which does not use Catch, with 0, 1, 2, ... allocations until it succeeds, and `check` after each failure. Returns
/// the number of failures.
template <class Action, class Check>
std::size_t fail_each_allocation(Action const& action, Check const& check) {
    for (std::size_t allowed = 0;; ++allowed) {
        bool failed = false;
        {
            allocation_limit const limit{allowed};
            try {
                action();
            } catch (std::bad_alloc const&) { failed = true; }
        }
        if (!failed) { return allowed; }
        CAPTURE(allowed);
        check();
    }
}

std::string number(std::size_t value) {
    std::string const digits = std::to_string(1'000'000 + value);
    return digits.substr(1);
}

/// Fails all allocations of a batch of 100 changes, in a partition with the given number of rows; the changes are staged, or made at once.
void fail_batch(memory_store& store, std::size_t before, bool at_once) {
    for (std::size_t row = 0; row < before; ++row) {
        REQUIRE(put(store, "t", "p", number(row * 2), "old") == lookup::found);
    }
    auto const untouched = rows(store, "t");
    auto const spacing = before / 100 + 1;
    auto const batch = [&](memory_store::transaction& transaction) {
        for (std::size_t row = 0; row < 100; ++row) {
            std::string_view const bytes = "new and rather long, so that it needs a block";
            bool const removal = row % 7 == 3;
            std::string const key = number(row * spacing * 2 + (removal || row % 7 == 5 ? 0 : 1));
            if (at_once) {
                transaction.update_row(key, [&](std::string_view const*) -> row_update {
                    if (removal) { return {row_update::change::erase}; }
                    return {row_update::change::put, bytes, 1};
                });
            } else if (removal) {
                transaction.erase(key);
            } else {
                transaction.put(key, bytes);
            }
        }
        return true;
    };
    std::size_t const failures = fail_each_allocation(
        [&] { (void)store.update("t", "p", batch).value(); }, [&] { REQUIRE(rows(store, "t") == untouched); });
    CHECK(failures >= (at_once ? 86U : 100U)); // the removal of an absent row allocates nothing at once
    CHECK(rows(store, "t") != untouched);
    // failed attempts leave nothing in the way
    CHECK(store.update("t", "p", batch).value() == lookup::found);
}

void fail_batches(bool at_once) {
    memory_store store;
    (void)store.create_table("other", "").value();
    std::optional<std::size_t> blocks;
    // with this number of rows that leaf and the chunks above it are full when rows are added
    for (std::size_t const before : std::initializer_list<std::size_t>{1, 0, 2, 63, 64, 65, 100, 4'096}) {
        REQUIRE(store.create_table("t", "").value());
        fail_batch(store, before, at_once);
        REQUIRE(store.drop_table("t").value());
        blocks = blocks ? blocks : blocks_in_use();
        CHECK(blocks_in_use() == *blocks);
    }
}

} // namespace

TEST_CASE("memory_store: an update that runs out of memory changes nothing") { fail_batches(false); }

TEST_CASE("memory_store: an update that changes rows at once and runs out of memory changes nothing") {
    fail_batches(true);
}

TEST_CASE("memory_store: update_row that runs out of memory changes nothing") {
    memory_store store;
    (void)store.create_table("other", "").value();
    std::optional<std::size_t> blocks;
    // with this number of rows the leaf and the chunks above it are full when the row is added
    for (std::size_t const before : std::initializer_list<std::size_t>{1, 0, 2, 63, 64, 65, 4'096}) {
        REQUIRE(store.create_table("t", "").value());
        for (std::size_t row = 0; row < before; ++row) {
            REQUIRE(put(store, "t", "p", number(row * 2), "old") == lookup::found);
        }
        std::string bytes = "new and rather long, so that it needs a block";
        for (std::string const& row : {number(before * 2), number(before + 1), number(0)}) {
            auto const untouched = rows(store, "t");
            bytes += '.'; // differs from what an earlier step may have put into the same row
            std::size_t const failures = fail_each_allocation(
                [&] {
                    (void)store.update_row("t", "p", row,
                        [&](std::string_view const*) -> row_update { return {row_update::change::put, bytes, 1}; });
                },
                [&] { REQUIRE(rows(store, "t") == untouched); });
            CHECK(failures >= 1);
            CHECK(rows(store, "t") != untouched);
        }
        REQUIRE(store.drop_table("t").value());
        blocks = blocks ? blocks : blocks_in_use();
        CHECK(blocks_in_use() == *blocks);
    }
}

TEST_CASE("memory_store: running out of memory at the first row of a partition or table leaves no trace") {
    memory_store store;
    for (std::size_t count = 0; count < 200; ++count) {
        std::string const table = "table with a long name " + number(count / 20);
        std::string const partition = "partition with a long name " + number(count);
        if (count % 20 == 0) {
            fail_each_allocation([&] { (void)store.create_table(table, "some other long name").value(); },
                [&] { REQUIRE(store.get(table, "", "", [](std::string_view) {}).value() == lookup::no_table); });
        }
        auto const before = rows(store, table);
        fail_each_allocation(
            [&] {
                (void)store.update(table, partition, [](memory_store::transaction& transaction) {
                    transaction.put("r", std::string_view{"bytes"});
                    return true;
                });
            },
            [&] {
                REQUIRE(rows(store, table) == before);
                REQUIRE_FALSE(read(store, table, partition, "r"));
            });
        REQUIRE(read(store, table, partition, "r") == "bytes");
    }
}

TEST_CASE("memory_store: reading, erasing and dropping allocate nothing except for the staged keys") {
    memory_store store;
    REQUIRE(store.create_table("t", "").value());
    for (std::size_t row = 0; row < 10'000; ++row) {
        REQUIRE(put(store, "t", number(row % 100), number(row), "bytes") == lookup::found);
    }
    std::size_t visited = 0;
    {
        allocation_limit const none{0};
        (void)store.get("t", "000007", "000107", [&](std::string_view) { ++visited; }).value();
        (void)store.get("t", "no", "no", [&](std::string_view) { ++visited; }).value();
        (void)store.get("no", "no", "no", [&](std::string_view) { ++visited; }).value();
        auto const count = [&](std::string_view, std::string_view, std::string_view) { return ++visited > 0; };
        (void)store.scan("t", {}, count).value();
        (void)store.tables("", [](std::string_view, std::string_view) { return true; }).value();
        (void)store.update("t", "000007", [](memory_store::transaction&) { return true; }).value();
    }
    CHECK(visited == 10'001);
    {
        allocation_limit const counted;
        (void)put(store, "t", "000007", "000107", "other bytes");
        CHECK(counted.count() <= 3); // the given bytes, the row, the list of changes
    }
    bool dropped = false;
    {
        allocation_limit const none{0};
        dropped = store.drop_table("t").value();
    }
    CHECK(dropped);
}

TEST_CASE("memory_store: empty partitions leave no memory behind") {
    memory_store store;
    REQUIRE(store.create_table("t", "").value());
    auto const round = [&](std::size_t begin) {
        for (std::size_t partition = begin; partition < begin + 1'000; ++partition) {
            std::string const key = number(partition);
            // a queue: rows are added at one end and removed at the other
            for (std::size_t row = 0; row < 5; ++row) { (void)put(store, "t", key, number(row), "bytes"); }
            for (std::size_t row = 0; row < 5; ++row) { (void)erase(store, "t", key, number(row)); }
            // updates that leave no row
            (void)store.update("t", key, [](memory_store::transaction&) { return true; }).value();
            (void)store.update("t", key, [](memory_store::transaction&) { return false; }).value();
            (void)erase(store, "t", key, "never there");
            (void)store
                .update("t", key,
                    [](memory_store::transaction& transaction) {
                        transaction.put("r", std::string_view{"bytes"});
                        transaction.erase("r");
                        return true;
                    })
                .value();
        }
    };
    round(0); // the hash table has grown by now
    std::size_t const blocks = blocks_in_use();
    round(1'000);
    CHECK(blocks_in_use() <= blocks + 4);
    CHECK(rows(store, "t").empty());
}

TEST_CASE("memory_store: a table that is dropped during updates leaves nothing behind") {
    memory_store store;
    std::size_t blocks = 0;
    for (std::size_t round = 0; round < 40; ++round) {
        // Partitions appear and disappear in all ways while the table is dropped: with many rows, so that their
        // commit takes time.
        std::atomic<bool> go_on{true};
        std::vector<std::thread> writers;
        for (std::size_t thread = 0; thread < 2; ++thread) {
            writers.emplace_back([&, thread] {
                for (std::size_t step = thread; go_on; ++step) {
                    (void)store.update("t", number(step / 2 % 50), [&](memory_store::transaction& transaction) {
                        for (std::size_t row = 0; row < 200; ++row) {
                            step % 2 == 0 ? transaction.put(number(row), "bytes") : transaction.erase(number(row));
                        }
                        return true;
                    });
                }
            });
        }
        for (std::size_t drop = 0; drop < 20; ++drop) {
            (void)store.create_table("t", "").value();
            for (std::size_t other = 0; other < 200; ++other) { // so that dropping the table takes time, too
                (void)put(store, "t", number(100 + other), "r", "bytes");
            }
            std::this_thread::sleep_for(std::chrono::microseconds{10 * round});
            (void)store.drop_table("t").value();
        }
        go_on = false;
        for (std::thread& each : writers) { each.join(); }
        blocks = round == 0 ? blocks_in_use() : blocks;
    }
    CHECK(blocks_in_use() <= blocks + 64); // the slots of the shards
}

TEST_CASE("memory_store: a shrinking partition frees its chunks") {
    memory_store store;
    REQUIRE(store.create_table("t", "").value());
    std::size_t const empty = blocks_in_use();
    std::size_t const count = 20'000;
    for (std::size_t row = 0; row < count; ++row) { (void)put(store, "t", "p", number(row), "bytes"); }
    std::size_t const packed = blocks_in_use();
    CHECK(packed < empty + count + count / 25);
    for (std::size_t row = 0; row < count; ++row) {
        if (row % 100 != 0) { (void)erase(store, "t", "p", number(row)); }
    }
    // 200 rows remain, in chunks that are at least a quarter full
    CHECK(blocks_in_use() < empty + 200 + 30);
}
