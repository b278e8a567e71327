// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What memory_store guarantees to several threads. Also runs under the thread sanitizer.

#include <entitable/local/memory/memory_store.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/store.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <random>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

/// Runs `work(thread number, go on?)` on this number of threads, until the time is over and each has run once.
void run_for(std::chrono::milliseconds time, std::size_t threads,
    std::function<void(std::size_t, std::atomic<bool> const&)> const& work) {
    std::atomic<bool> go_on{true};
    std::vector<std::thread> running;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        running.emplace_back([&, thread] {
            do { work(thread, go_on); } while (go_on);
        });
    }
    std::this_thread::sleep_for(time);
    go_on = false;
    for (std::thread& each : running) { each.join(); }
}

std::chrono::milliseconds some_time() { return std::chrono::milliseconds{rounds(700, 60'000)}; }

/// Increments the number in a row within one update.
lookup increment(memory_store& store, std::string_view partition, std::string_view row) {
    return store
        .update("t", partition,
            [&](memory_store::transaction& transaction) {
                std::uint64_t value = 0;
                transaction.get(row, [&](std::string_view bytes) { value = std::stoull(std::string{bytes}); });
                transaction.put(row, std::to_string(value + 1));
                return true;
            })
        .value();
}

} // namespace

TEST_CASE("rw_lock: admits one writer or many readers") {
    detail::rw_lock lock;
    std::size_t number = 0;
    std::size_t copy = 0;
    std::atomic<std::size_t> written{0};
    std::atomic<std::size_t> read{0};
    std::atomic<std::size_t> torn{0};
    run_for(some_time(), 6, [&](std::size_t thread, std::atomic<bool> const& go_on) {
        std::size_t done = 0;
        while (go_on) {
            if (thread < 3) {
                detail::exclusive_guard const guard{lock};
                ++number;
                ++copy;
            } else {
                detail::shared_guard const guard{lock};
                torn += number != copy ? 1 : 0;
            }
            ++done;
        }
        (thread < 3 ? written : read) += done;
    });
    CHECK(torn == 0);
    CHECK(number == written);
    // neither side locks out the other
    CHECK(written > 100);
    CHECK(read > 100);
}

TEST_CASE("rw_lock: readers can enter while a writer has locked out only other writers") {
    detail::rw_lock lock;
    std::size_t number = 0;
    std::size_t copy = 0;
    std::atomic<std::size_t> torn{0};
    std::size_t written = 0;
    lock.shut_out_writers();
    { detail::shared_guard const guard{lock}; }
    lock.shut_out_readers();
    lock.unlock();
    run_for(some_time(), 6, [&](std::size_t thread, std::atomic<bool> const& go_on) {
        while (go_on) {
            if (thread < 3) {
                lock.shut_out_writers();
                std::size_t const next = number + 1;
                ++written;
                lock.shut_out_readers();
                number = next;
                copy = next;
                lock.unlock();
            } else {
                detail::shared_guard const guard{lock};
                torn += number != copy ? 1 : 0;
            }
        }
    });
    CHECK(torn == 0);
    CHECK(number == written);
    CHECK(written > 100);
}

TEST_CASE("rw_lock: a writer gets the lock even if there is always a reader inside") {
    detail::rw_lock lock;
    std::atomic<int> readers{0};
    std::atomic<std::size_t> written{0};
    run_for(some_time(), 5, [&](std::size_t thread, std::atomic<bool> const& go_on) {
        if (thread == 0) {
            while (readers < 4) { std::this_thread::yield(); }
            while (go_on) {
                detail::exclusive_guard const guard{lock};
                ++written;
            }
            return;
        }
        for (bool first = true; go_on; first = false) {
            detail::shared_guard const guard{lock};
            readers += first ? 1 : 0;
            std::this_thread::sleep_for(std::chrono::microseconds{200});
        }
    });
    CHECK(written > 20);
}

TEST_CASE("rw_lock: a slow reader does not lock out other readers while a writer waits") {
    detail::rw_lock lock;
    std::atomic<bool> written{false};
    lock.lock_shared();
    std::thread writer{[&] {
        detail::exclusive_guard const guard{lock};
        written = true;
    }};
    for (int round = 0; round < 20; ++round) {
        detail::shared_guard const guard{lock};
        CHECK_FALSE(written);
    }
    lock.unlock_shared();
    writer.join();
    CHECK(written);
}

TEST_CASE("memory_store: no update is lost") {
    memory_store store;
    REQUIRE(store.create_table("t", "").value());
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::size_t> wrong{0};
    run_for(some_time(), 4, [&](std::size_t thread, std::atomic<bool> const& go_on) {
        std::mt19937_64 random{thread};
        std::uint64_t mine = 0;
        while (go_on) {
            wrong +=
                increment(store, std::to_string(random() % 3), std::to_string(random() % 5)) == lookup::found ? 0 : 1;
            ++mine;
            std::uint64_t seen = 0; // while others write
            (void)read(store, "t", std::to_string(random() % 3), "1");
            (void)store.scan("t", {}, [&](std::string_view, std::string_view, std::string_view bytes) {
                seen += bytes.size();
                return true;
            });
        }
        done += mine;
    });
    std::uint64_t sum = 0;
    for (stored_row const& each : rows(store, "t")) { sum += std::stoull(each.bytes); }
    CHECK(sum == done);
    CHECK(wrong == 0);
}

TEST_CASE("memory_store: partitions appear and become empty under concurrent readers and writers") {
    memory_store store;
    REQUIRE(store.create_table("t", "").value());
    std::atomic<std::int64_t> balance{0};
    std::atomic<std::size_t> wrong{0};
    std::string const long_key(40, 'k');
    run_for(some_time(), 4, [&](std::size_t thread, std::atomic<bool> const& go_on) {
        std::mt19937_64 random{thread};
        std::string last;
        while (go_on) {
            std::string const partition = long_key + std::to_string(random() % 4);
            std::string const row = std::to_string(random() % 2);
            if (thread == 0) {
                std::string before;
                (void)store.scan(
                    "t", {}, [&](std::string_view found, std::string_view found_row, std::string_view bytes) {
                        std::string key = std::string{found} + '/' + std::string{found_row};
                        wrong += before < key && bytes == "bytes" ? 0 : 1;
                        before = std::move(key);
                        return true;
                    });
                (void)read(store, "t", partition, row);
                continue;
            }
            // Each removes the row or puts it back: the counts must add up.
            int change = 0;
            auto const outcome = store.update("t", partition, [&](memory_store::transaction& transaction) {
                if (transaction.get(row, [](std::string_view) {})) {
                    transaction.erase(row);
                    change = -1;
                } else {
                    transaction.put(row, std::string_view{"bytes"});
                    change = 1;
                }
                return true;
            });
            wrong += outcome.value() == lookup::found ? 0 : 1;
            balance += change;
        }
    });
    CHECK(static_cast<std::int64_t>(rows(store, "t").size()) == balance);
    CHECK(wrong == 0);
}

TEST_CASE("memory_store rule 8: no update to a dropped table reaches the table that replaces it") {
    memory_store store;
    std::atomic<std::uint64_t> epoch{0}; // only changes while there is no table
    std::atomic<std::uint64_t> written{0};
    std::atomic<std::size_t> wrong{0};
    run_for(some_time(), 4, [&](std::size_t thread, std::atomic<bool> const& go_on) {
        std::mt19937_64 random{thread};
        while (go_on) {
            if (thread == 0) {
                ++epoch;
                wrong += store.create_table("t", "").value() ? 0 : 1;
                for (int scan = 0; scan < 3; ++scan) {
                    std::uint64_t const now = epoch;
                    (void)store.scan("t", {}, [&](std::string_view, std::string_view, std::string_view bytes) {
                        wrong += std::stoull(std::string{bytes}) >= now ? 0 : 1;
                        return true;
                    });
                }
                wrong += store.drop_table("t").value() ? 0 : 1;
                continue;
            }
            bool ran = false;
            auto const outcome =
                store.update("t", std::to_string(random() % 3), [&](memory_store::transaction& transaction) {
                    ran = true;
                    transaction.put(std::to_string(random() % 3), std::to_string(epoch));
                    return true;
                });
            written += outcome.value() == lookup::found ? 1 : 0;
            wrong += outcome.value() == lookup::found && !ran ? 1 : 0;
        }
    });
    CHECK(wrong == 0);
    CHECK(written > 0);
    CHECK_FALSE(store.drop_table("t").value());
    REQUIRE(store.create_table("t", "").value());
    CHECK(rows(store, "t").empty());
}

TEST_CASE("memory_store rule 5: a scan sees a single state of a partition") {
    memory_store store;
    REQUIRE(store.create_table("t", "").value());
    std::size_t const row_count = 50;
    auto const stamp = [&](std::uint64_t number) {
        return store
            .update("t", "p",
                [&](memory_store::transaction& transaction) {
                    for (std::size_t row = 0; row < row_count; ++row) {
                        transaction.put(std::to_string(row), std::to_string(number));
                    }
                    // one row is added and removed, so that chunks split and join
                    if (number % 2 == 0) {
                        transaction.erase("extra");
                    } else {
                        transaction.put("extra", std::to_string(number));
                    }
                    return true;
                })
            .value();
    };
    REQUIRE(stamp(0) == lookup::found);
    std::atomic<std::uint64_t> numbers{0};
    std::atomic<std::size_t> scans{0};
    std::atomic<std::size_t> mixed{0};
    run_for(some_time(), 4, [&](std::size_t thread, std::atomic<bool> const& go_on) {
        while (go_on) {
            if (thread < 2) {
                (void)stamp(++numbers);
                continue;
            }
            std::uint64_t seen = 0;
            std::size_t count = 0;
            bool same = true;
            (void)store.scan("t", {}, [&](std::string_view, std::string_view, std::string_view bytes) {
                std::uint64_t const number = std::stoull(std::string{bytes});
                same = same && (count == 0 || number == seen);
                seen = number;
                ++count;
                return true;
            });
            mixed += same && count == row_count + seen % 2 ? 0 : 1;
            ++scans;
        }
    });
    CHECK(mixed == 0);
    CHECK(scans > 0);
    CHECK(numbers > 0);
}

TEST_CASE("memory_store rule 7: a slow visitor blocks only writers of its partition") {
    memory_store store;
    REQUIRE(store.create_table("t", "").value());
    REQUIRE(put(store, "t", "held", "r", "before") == lookup::found);
    REQUIRE(put(store, "t", "old", "r", "bytes") == lookup::found);

    std::atomic<int> inside{0};
    std::atomic<bool> leave{false};
    std::atomic<bool> written{false};
    auto const stay = [&] {
        ++inside;
        while (!leave) { std::this_thread::yield(); }
    };
    std::vector<std::thread> threads;
    SECTION("the slow visitor runs in get") {
        threads.emplace_back([&] { (void)store.get("t", "held", "r", [&](std::string_view) { stay(); }).value(); });
    }
    SECTION("the slow visitor runs in scan") {
        threads.emplace_back([&] {
            (void)store.scan("t", {}, [&](std::string_view, std::string_view, std::string_view) {
                stay();
                return false;
            });
        });
    }
    SECTION("slow visitors run in tables, get and scan") {
        threads.emplace_back([&] { (void)store.get("t", "held", "r", [&](std::string_view) { stay(); }).value(); });
        threads.emplace_back([&] {
            (void)store.tables("", [&](std::string_view, std::string_view) {
                stay();
                return false;
            });
        });
        threads.emplace_back([&] {
            (void)store.scan("t", {}, [&](std::string_view, std::string_view, std::string_view) {
                stay();
                return false;
            });
        });
    }
    while (inside < static_cast<int>(threads.size())) { std::this_thread::yield(); }
    threads.emplace_back([&] { // only this one waits
        (void)put(store, "t", "held", "r", "after");
        written = true;
    });

    // more partitions than shards: some share a shard with the blocked one
    for (int partition = 0; partition < 1'000; ++partition) {
        std::string const key = std::to_string(partition);
        REQUIRE(put(store, "t", key, "r", "bytes") == lookup::found);
        REQUIRE(put(store, "t", key, "r", "other bytes") == lookup::found);
        REQUIRE(read(store, "t", key, "r") == "other bytes");
        REQUIRE(erase(store, "t", key, "r") == lookup::found);
    }
    CHECK(read(store, "t", "held", "r") == "before");
    CHECK(rows(store, "t").size() == 2);
    CHECK(put(store, "t", "old", "r", "new") == lookup::found);
    CHECK(store.create_table("u", "").value());
    CHECK(store.drop_table("u").value());
    CHECK_FALSE(written);
    leave = true;
    for (std::thread& each : threads) { each.join(); }
    CHECK(written);
    CHECK(read(store, "t", "held", "r") == "after");
}

TEST_CASE("memory_store rule 7: a slow body blocks only writers of its partition") {
    memory_store store;
    REQUIRE(store.create_table("t", "").value());
    bool const listed = GENERATE(false, true);
    if (listed) { REQUIRE(put(store, "t", "held", "r", "before") == lookup::found); }
    std::atomic<bool> inside{false};
    std::atomic<bool> leave{false};
    auto outcome = lookup::absent;
    std::thread staying{[&] {
        outcome = store
                      .update("t", "held",
                          [&](memory_store::transaction& transaction) {
                              transaction.put("r", std::string_view{"after"});
                              inside = true;
                              while (!leave) { std::this_thread::yield(); }
                              return true;
                          })
                      .value();
    }};
    while (!inside) { std::this_thread::yield(); }
    for (int partition = 0; partition < 1'000; ++partition) {
        std::string const key = std::to_string(partition);
        REQUIRE(put(store, "t", key, "r", "bytes") == lookup::found);
        REQUIRE(read(store, "t", key, "r") == "bytes");
    }
    // Its partition can be read, too.
    CHECK(read(store, "t", "held", "r") == (listed ? std::optional<std::string>{"before"} : std::nullopt));
    CHECK(rows(store, "t").size() == (listed ? 1'001 : 1'000));
    CHECK(rows(store, "t", {"0", "", "9"}).size() == 1'000 - 110);
    bool const dropped = GENERATE(false, true);
    if (dropped) {
        CHECK(store.drop_table("t").value());
        CHECK(store.create_table("t", "").value());
        CHECK(put(store, "t", "held", "r", "of the next table") == lookup::found);
    }
    leave = true;
    staying.join();
    CHECK(outcome == (dropped ? lookup::no_table : lookup::found));
    CHECK(read(store, "t", "held", "r") == (dropped ? "of the next table" : "after"));
}
