// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What a local backend guarantees to several threads: a page is a snapshot of its partition, a batch is seen as a
// whole, and all requests to a partition are linearizable. Also runs under the thread sanitizer.

#include "histories.hpp"
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

using namespace entitable;
using namespace entitable_test;
using testing::make_row;

namespace {

constexpr std::size_t stamped_rows = 50;

transact stamp(std::int32_t number) {
    transact batch{"Orders", {}};
    for (std::size_t row = 0; row < stamped_rows; ++row) {
        batch.changes.push_back(
            mutation::insert_or_replace(make_row("p", std::to_string(100 + row), {{"Stamp", number}})));
    }
    return batch;
}

} // namespace

TEST_CASE("local: a page is a single snapshot of its partition") {
    memory_backend const store;
    call first;
    REQUIRE(store.execute(create_table{"Orders"}, first));
    REQUIRE(store.execute(stamp(0), first));
    std::atomic<bool> go_on{true};
    std::atomic<std::int32_t> next{1};
    std::atomic<std::size_t> pages{0};
    std::atomic<std::size_t> batches{0};
    std::atomic<std::size_t> mixed{0};
    std::vector<std::thread> running;
    for (int thread = 0; thread < 4; ++thread) {
        running.emplace_back([&] {
            while (go_on) {
                call context;
                mixed += store.execute(stamp(next++), context) ? 0 : 1;
                ++batches;
            }
        });
        running.emplace_back([&, whole_table = thread % 2 == 0] {
            query_entities query;
            query.table = "Orders";
            if (!whole_table) { query.range.partition = key_interval::only("p"); }
            while (go_on) {
                call context;
                auto const page = store.execute(query, context);
                bool whole = page && page->rows.size() == stamped_rows;
                for (std::size_t row = 0; whole && row < stamped_rows; ++row) {
                    whole = page->rows[row].find("Stamp") == page->rows[0].find("Stamp");
                }
                mixed += whole ? 0 : 1;
                ++pages;
            }
        });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{rounds(1'500, 600'000)});
    go_on = false;
    for (std::thread& each : running) { each.join(); }
    INFO(pages << " pages, " << batches << " batches");
    CHECK(mixed == 0);
    CHECK(pages > 50);
    CHECK(batches > 10);
    if (std::getenv("ENTITABLE_TEST_FIGURES") != nullptr) { WARN(pages << " pages and " << batches << " batches"); }
}

namespace {

template <class Store>
std::vector<timed_operation> history(Store const& store, std::uint64_t seed, std::size_t threads, std::size_t each) {
    std::atomic<std::uint64_t> time{0};
    return entitable_test::history(store, seed, threads, each, time);
}

/// Answers some reads with an older answer, like a cache.
struct stale {
    memory_backend store;
    template <class Request>
    auto execute(Request const& request, call& context) const {
        auto answer = store.execute(request, context);
        if constexpr (std::is_same_v<Request, query_entities>) {
            thread_local query_entities::response old;
            thread_local int count = 0;
            if (++count % 5 == 0) { return result<query_entities::response>{old}; }
            old = answer.value();
        }
        return answer;
    }
};

} // namespace

TEST_CASE("local: requests on a partition are linearizable") {
    std::size_t concurrent = 0;
    for (std::uint64_t seed = 1; seed <= rounds(80, 50'000); ++seed) {
        memory_backend const store;
        call context;
        REQUIRE(store.execute(create_table{"Orders"}, context));
        auto const done = history(store, seed, 4, 50);
        for (std::size_t index = 0; index < done.size(); ++index) {
            concurrent += done[index].ended - done[index].begun > 1 ? 1U : 0U;
        }
        if (!linearizable(done)) {
            FAIL_CHECK("seed " << seed << ": no order of these operations explains their answers\n" << shown(done));
        }
    }
    CHECK(concurrent > 100); // operations overlap at all
}

TEST_CASE("linearizable: the checker finds stale reads") {
    std::size_t found = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        stale const store{};
        call context;
        REQUIRE(store.store.execute(create_table{"Orders"}, context));
        found += linearizable(history(store, seed, 4, 50)) ? 0U : 1U;
    }
    CHECK(found >= 15); // a stale answer may happen to be right
}

TEST_CASE("linearizable: the checker judges small histories correctly") {
    auto const write = [](std::uint64_t begun, std::uint64_t ended, std::string made) {
        timed_operation done;
        done.begun = begun;
        done.ended = ended;
        done.kind = timed_operation::changes;
        done.parts.push_back({0, mutation_kind::insert_or_replace, {}, std::move(made)});
        return done;
    };
    auto const read = [](std::uint64_t begun, std::uint64_t ended, std::string found) {
        timed_operation done;
        done.begun = begun;
        done.ended = ended;
        done.kind = timed_operation::one_row;
        done.found[0] = std::move(found);
        return done;
    };
    CHECK(linearizable({}));
    CHECK(linearizable({write(0, 1, "a"), read(2, 3, "a")}));
    CHECK_FALSE(linearizable({write(0, 1, "a"), read(2, 3, "")}));
    CHECK(linearizable({write(0, 5, "a"), read(1, 2, ""), read(3, 4, "a")}));
    CHECK_FALSE(linearizable({write(0, 5, "a"), read(1, 2, "a"), read(3, 4, "")}));
    CHECK(linearizable({write(0, 5, "a"), write(1, 6, "b"), read(2, 3, "b"), read(7, 8, "a")}));
    CHECK_FALSE(linearizable({write(0, 1, "a"), write(2, 3, "b"), read(4, 5, "a")}));
}
