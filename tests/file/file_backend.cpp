// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/local/file/sqlite_store.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>
#include <thread>

using namespace entitable;
using namespace entitable_test;

namespace {

struct runner {
    std::string race;
    std::int32_t bib{};
    std::string name;
};

ENTITABLE(runner, partition_key(race), row_key(bib), properties(name))

} // namespace

TEST_CASE("file_backend: written rows are still there after the file is closed and reopened") {
    temporary_folder const folder;
    etag version;
    {
        file_backend store{folder / "runners.db"};
        table<runner> runners{store, "runners"};
        CHECK(runners.create_if_absent().value());
        version = runners.insert({"Boston", 7, "Ann"}).value().etag;
    }
    file_backend store{folder / "runners.db"};
    table<runner> runners{store, "Runners"};
    CHECK_FALSE(runners.create_if_absent().value());
    auto const found = runners.get_stored("Boston", 7);
    REQUIRE(found);
    CHECK(found->entity.name == "Ann");
    CHECK(found->etag == version);
    CHECK(store.verify().value().sound());
    CHECK(store.verify().value().rows == 1);
}

TEST_CASE("file_backend: versions never repeat, even in two stores and after reopening with the clock set back") {
    temporary_folder const folder;
    testing::manual_clock time;
    file_options options;
    options.local.time = &time;
    std::optional<file_backend> store{std::in_place, folder / "runners.db", options};
    table<runner>{*store, "runners"}.create().value();
    auto version = std::string{};
    date_time last{};
    for (int round = 0; round < 20; ++round) {
        if (round % 3 == 2) { store.emplace(folder / "runners.db", options); }
        file_backend const other{folder / "runners.db", options};
        time.set(date_time{time.now().ticks - 1'000'000});
        for (file_backend const& each : {*store, other}) {
            table<runner> runners{each, "runners"};
            runners.insert_or_replace({"Boston", 7, "Ann"}).value();
            auto const stored = runners.get_stored("Boston", 7).value();
            CHECK(stored.timestamp > last);
            last = stored.timestamp;
            runners.remove("Boston", 7, stored.etag).value();
        }
    }
}

TEST_CASE("file_backend: the rows of a dropped table are removed in slices") {
    temporary_folder const folder;
    file_backend const store{folder / "runners.db"};
    table<runner> runners{store, "runners"};
    table<runner> others{store, "others"};
    runners.create().value();
    others.create().value();
    others.insert({"Boston", 1, "Ann"}).value();
    for (int batches = 0; batches < 25; ++batches) {
        auto batch = runners.batch();
        for (int row = 0; row < 100; ++row) { batch.insert({"Boston", batches * 100 + row, "Ann"}); }
        batch.submit().value();
    }
    CHECK(store.verify().value().rows == 2501);
    runners.drop().value();
    CHECK(store.verify().value().rows == 1);
    CHECK(runners.get("Boston", 1).error().code == error_code::table_not_found);
    runners.create().value();
    CHECK(runners.get("Boston", 1).error().code == error_code::resource_not_found);
    CHECK(others.get("Boston", 1).value().name == "Ann");
}

TEST_CASE("file_backend: two backends with the same file see each other's writes") {
    temporary_folder const folder;
    file_backend const first{folder / "runners.db"};
    file_backend const second{folder / "runners.db"};
    table<runner> a{first, "runners"};
    table<runner> b{second, "runners"};
    a.create().value();
    for (int row = 0; row < 50; ++row) {
        REQUIRE((row % 2 == 0 ? a : b).insert({"Boston", row, "Ann"}));
        REQUIRE((row % 2 == 0 ? b : a).get("Boston", row));
    }
    CHECK(a.insert({"Boston", 3, "Bob"}).error().code == error_code::entity_already_exists);
}

TEST_CASE("file_backend: rows inserted by a body are rolled back when the update is abandoned") {
    temporary_folder const folder;
    file_backend const backend{folder / "rows.db"};
    sqlite_store& store = backend.store();
    store.create_table("t", "t").value();
    auto const content = [&] {
        std::string all;
        (void)store.scan(
            "t", {"", "", std::nullopt}, [&](std::string_view, std::string_view row, std::string_view bytes) {
                all.append(row).append("=").append(bytes).append(" ");
                return true;
            });
        return all;
    };
    using transaction = sqlite_store::transaction;
    auto const inserted = [](transaction& rows, std::string_view row, std::string bytes) {
        return rows.insert(row, bytes);
    };
    CHECK(
        store.update("t", "p", [&](transaction& rows) { return inserted(rows, "a", "1") && inserted(rows, "b", "2"); })
            .value() == lookup::found);
    CHECK(content() == "a=1 b=2 ");
    CHECK(store.update("t", "p", [&](transaction& rows) {
        CHECK(inserted(rows, "c", "3"));
        CHECK_FALSE(inserted(rows, "a", "4"));
        rows.put("d", "5");
        return false;
    }));
    CHECK(content() == "a=1 b=2 ");
    CHECK(store.update("t", "p", [&](transaction& rows) {
        CHECK_FALSE(inserted(rows, "a", "6"));
        CHECK(inserted(rows, "c", "7"));
        rows.put("a", "8");
        rows.erase("b");
        return true;
    }));
    CHECK(content() == "a=8 c=7 ");
    CHECK_THROWS_AS(store.update("t", "p",
                        [&](transaction& rows) -> bool {
                            CHECK(inserted(rows, "d", "9"));
                            throw 1;
                        }),
        int);
    CHECK(content() == "a=8 c=7 ");
    CHECK(store.verify().value().sound());
}

TEST_CASE("file_backend: an abandoned update leaves nothing in the commit it shares with others") {
    temporary_folder const folder;
    file_backend const backend{folder / "rows.db"};
    sqlite_store& store = backend.store();
    store.create_table("t", "t").value();
    for (int round = 0; round < 20; ++round) {
        std::atomic<bool> leads{false};
        std::atomic<int> come{0};
        std::thread leader{[&] {
            (void)store.update("t", "leader", [&](sqlite_store::transaction&) {
                leads = true;
                while (come < 4) { std::this_thread::yield(); }
                auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds{1};
                while (std::chrono::steady_clock::now() < end) {
                    std::this_thread::yield(); // the others join the queue
                }
                return false;
            });
        }};
        while (!leads) { std::this_thread::yield(); }
        std::vector<std::thread> others;
        for (int other = 0; other < 4; ++other) {
            others.emplace_back([&, other] {
                std::string const key = std::to_string(round) + (other % 2 == 0 ? "wanted" : "given up");
                ++come;
                (void)store.update("t", std::to_string(other), [&](sqlite_store::transaction& rows) {
                    std::string bytes = "1";
                    return rows.insert(key, bytes) && other % 2 == 0;
                });
            });
        }
        leader.join();
        for (std::thread& each : others) { each.join(); }
    }
    int wanted = 0;
    int others = 0;
    CHECK(store.scan("t", {"", "", std::nullopt}, [&](std::string_view, std::string_view row, std::string_view) {
        ++(row.ends_with("wanted") ? wanted : others);
        return true;
    }));
    CHECK(wanted == 40);
    CHECK(others == 0);
}
