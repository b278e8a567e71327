// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Calls on a file that others have locked: each ends with its own deadline, its cancellation or busy_timeout, whoever is ahead
// of it. The limits are a few times the documented ones and less than the time that the others hold the file.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/local/file/sqlite_store.hpp>

#include <sqlite3.h>
#include <support/catch.hpp>
#include <support/held_lock.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>
#include <future>
#include <optional>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;
using std::chrono::milliseconds;

namespace {

struct item {
    std::string part;
    std::int64_t id{};
    std::string text;
};

ENTITABLE(item, partition_key(part), row_key(id), properties(text))

/// What another process does: holds SQLite's own locks after some statements.
class other_connection {
public:
    other_connection(std::string const& path, char const* text) {
        REQUIRE(sqlite3_open(path.c_str(), &database_) == SQLITE_OK);
        REQUIRE(sqlite3_exec(database_, text, nullptr, nullptr, nullptr) == SQLITE_OK);
    }
    ~other_connection() { sqlite3_close(database_); }
    other_connection(other_connection const&) = delete;
    other_connection& operator=(other_connection const&) = delete;

private:
    sqlite3* database_{};
};

call_options within(milliseconds timeout) {
    call_options options;
    options.timeout = timeout;
    return options;
}

struct ended {
    error_code code{};
    entitable::effect effect{entitable::effect::none};
    milliseconds took{};
};

/// Runs a call in a thread of its own.
template <class Work>
std::future<ended> started(Work work) {
    return std::async(std::launch::async, [work] {
        auto const start = std::chrono::steady_clock::now();
        auto const outcome = work();
        ended end;
        end.took = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
        if (!outcome) {
            end.code = outcome.error().code;
            end.effect = outcome.error().effect;
        }
        return end;
    });
}

/// Waits until a started thread has reached its wait.
void settle() { std::this_thread::sleep_for(milliseconds{60}); }

constexpr milliseconds long_timeout{4'000};
constexpr milliseconds soon{1'500};

} // namespace

TEST_CASE("file: a queued writer ends with its own deadline or cancellation, whichever thread leads the commit") {
    temporary_folder const folder{temporary_folder::memory()};
    std::string const path = folder / "items.db";
    file_options options;
    options.busy_timeout = long_timeout;
    file_backend const store{path, options};
    table<item> const items{store, "items"};
    items.create().value();
    std::optional<held_lock> other{path};

    auto leader = started([=] { return items.insert({"p", 1, ""}); });
    settle();
    auto follower = started([=] { return items.with(within(milliseconds{100})).insert({"p", 2, ""}); });
    cancellation_source stop;
    call_options cancelled;
    cancelled.cancellation = stop.token();
    auto stopped = started([=] { return items.with(cancelled).insert({"p", 3, ""}); });
    auto patient = started([=] { return items.insert({"p", 4, ""}); });
    settle();
    stop.cancel();
    auto const end_of_stopped = stopped.get();
    CHECK(end_of_stopped.code == error_code::cancelled);
    CHECK(end_of_stopped.effect == effect::none);
    CHECK(end_of_stopped.took < soon);
    auto const end_of_follower = follower.get();
    CHECK(end_of_follower.code == error_code::deadline_exceeded);
    CHECK(end_of_follower.effect == effect::none);
    CHECK(end_of_follower.took < soon);

    other.reset();
    CHECK(leader.get().code == error_code{});
    CHECK(patient.get().code == error_code{});
    CHECK(items.get("p", 1));
    CHECK_FALSE(items.get("p", 2));
    CHECK_FALSE(items.get("p", 3));
    CHECK(items.get("p", 4));
}

TEST_CASE("file: a leading writer ends with its own deadline or cancellation, and another writer continues") {
    temporary_folder const folder{temporary_folder::memory()};
    std::string const path = folder / "items.db";
    file_options options;
    options.busy_timeout = long_timeout;
    file_backend const store{path, options};
    table<item> const items{store, "items"};
    items.create().value();
    std::optional<held_lock> other{path};

    auto first = started([=] { return items.with(within(milliseconds{200})).insert({"p", 1, ""}); });
    settle();
    cancellation_source stop;
    call_options cancelled;
    cancelled.cancellation = stop.token();
    auto second = started([=] { return items.with(cancelled).insert({"p", 2, ""}); });
    settle();
    std::vector<std::future<ended>> patient;
    for (std::int64_t id = 3; id < 6; ++id) {
        patient.push_back(started([=] { return items.insert({"p", id, ""}); }));
    }
    auto const end_of_first = first.get();
    CHECK(end_of_first.code == error_code::deadline_exceeded);
    CHECK(end_of_first.took < soon);
    settle(); // the second one leads by now
    stop.cancel();
    auto const end_of_second = second.get();
    CHECK(end_of_second.code == error_code::cancelled);
    CHECK(end_of_second.took < soon);
    other.reset();
    for (auto& each : patient) { CHECK(each.get().code == error_code{}); }
    CHECK(items.scan_table().count().value() == 3);
}

TEST_CASE("file: queued writers wait for busy_timeout concurrently and not one after the other") {
    temporary_folder const folder{temporary_folder::memory()};
    std::string const path = folder / "items.db";
    file_options options;
    options.busy_timeout = milliseconds{700};
    file_backend const store{path, options};
    table<item> const items{store, "items"};
    items.create().value();
    held_lock const other{path};
    std::vector<std::future<ended>> all;
    for (std::int64_t id = 0; id < 4; ++id) {
        all.push_back(started([=] { return items.insert({"p", id, ""}); }));
        std::this_thread::sleep_for(milliseconds{10});
    }
    for (auto& each : all) {
        auto const end = each.get();
        CHECK(end.code == error_code::store_busy);
        CHECK(end.effect == effect::none);
        CHECK(end.took < milliseconds{1'250});
    }
}

TEST_CASE("file: a busy_timeout of 0 does not apply to writers of the same store") {
    temporary_folder const folder;
    file_options options;
    options.busy_timeout = milliseconds{0};
    file_backend const store{folder / "items.db", options};
    table<item> const items{store, "items"};
    items.create().value();
    std::vector<std::future<ended>> all;
    for (std::int64_t id = 0; id < 8; ++id) {
        all.push_back(started([=]() -> result<void> {
            for (std::int64_t row = 0; row < 30; ++row) {
                if (auto made = items.insert({"p" + std::to_string(id), row, ""}); !made) {
                    return std::move(made).as_failure();
                }
            }
            return store.checkpoint();
        }));
    }
    for (auto& each : all) { CHECK(each.get().code == error_code{}); }
    CHECK(items.scan_table().count().value() == 240);
}

TEST_CASE("file: a checkpoint and a concurrent writer each end with their own deadline") {
    temporary_folder const folder{temporary_folder::memory()};
    std::string const path = folder / "items.db";
    file_options options;
    options.busy_timeout = long_timeout;
    file_backend const store{path, options};
    table<item> const items{store, "items"};
    items.create().value();
    std::optional<held_lock> other{path};
    auto moving = started([=] { return store.checkpoint(); });
    settle();
    auto writer = started([=] { return items.with(within(milliseconds{100})).insert({"p", 1, ""}); });
    cancellation_source stop;
    call_options cancelled;
    cancelled.cancellation = stop.token();
    auto stopped = started([=] { return items.with(cancelled).insert({"p", 2, ""}); });
    auto timed = started([=] { return store.checkpoint(within(milliseconds{100})); });
    auto patient = started([=] { return items.insert({"p", 3, ""}); });
    settle();
    stop.cancel();
    auto const end_of_stopped = stopped.get();
    CHECK(end_of_stopped.code == error_code::cancelled);
    CHECK(end_of_stopped.took < soon);
    auto const end_of_writer = writer.get();
    CHECK(end_of_writer.code == error_code::deadline_exceeded);
    CHECK(end_of_writer.took < soon);
    auto const end_of_timed = timed.get();
    CHECK(end_of_timed.code == error_code::deadline_exceeded);
    CHECK(end_of_timed.took < soon);
    other.reset();
    CHECK(moving.get().code == error_code{});
    CHECK(patient.get().code == error_code{});
    CHECK(items.scan_table().count().value() == 1);
}

TEST_CASE("file: a long log that is being read delays no writer past its deadline") {
    temporary_folder const folder{temporary_folder::memory()};
    std::string const path = folder / "items.db";
    file_options options;
    options.busy_timeout = std::chrono::seconds{16}; // a writer without a deadline waits for a quarter of it
    options.checkpoint_bytes = 50'000;
    options.log_bytes = 100'000;
    file_backend const store{path, options};
    table<item> const items{store, "items"};
    items.create().value();
    other_connection const reader{path, "BEGIN; SELECT count(*) FROM entitable_row"};
    milliseconds longest{0};
    for (std::int64_t id = 0; id < 18; ++id) {
        auto const end = started([=] {
            return items.with(within(milliseconds{100})).insert({"p", id, std::string(9'000, 'x')});
        }).get();
        CHECK(end.code == error_code{});
        longest = std::max(longest, end.took);
    }
    CHECK(longest < soon);
}

TEST_CASE("file: with a rollback journal, readers and commits end with their own deadlines") {
    temporary_folder const folder{temporary_folder::memory()};
    std::string const path = folder / "items.db";
    file_options options;
    options.journal = file_journal::rollback;
    options.busy_timeout = long_timeout;
    file_backend const store{path, options};
    table<item> const items{store, "items"};
    items.create().value();
    items.insert({"p", 0, ""}).value();
    table<item> const timed = items.with(within(milliseconds{100}));
    cancellation_source stop;
    call_options cancelled;
    cancelled.cancellation = stop.token();
    {
        other_connection const writer{path, "BEGIN EXCLUSIVE"};
        std::vector<std::future<ended>> late;
        late.push_back(started([=] { return timed.get("p", 0); }));
        late.push_back(started([=] { return timed.scan_table().count(); }));
        late.push_back(started([=]() -> result<void> {
            call context{within(milliseconds{100})};
            auto listed = store.execute(list_tables{}, context);
            return listed ? result<void>{} : std::move(listed).as_failure();
        }));
        late.push_back(started([=]() -> result<void> {
            auto report = store.verify(within(milliseconds{100}));
            return report ? result<void>{} : std::move(report).as_failure();
        }));
        auto stopped = started([=] { return items.with(cancelled).get("p", 0); });
        settle();
        stop.cancel();
        for (auto& each : late) {
            auto const end = each.get();
            CHECK(end.code == error_code::deadline_exceeded);
            CHECK(end.took < soon);
        }
        auto const end = stopped.get();
        CHECK(end.code == error_code::cancelled);
        CHECK(end.took < soon);
    }
    std::optional<other_connection> reader;
    reader.emplace(path, "BEGIN; SELECT count(*) FROM entitable_row");
    auto leader = started([=] { return items.with(within(milliseconds{250})).insert({"p", 1, ""}); });
    settle();
    auto patient = started([=] { return items.insert({"p", 2, ""}); });
    auto follower = started([=] { return items.with(within(milliseconds{500})).insert({"p", 3, ""}); });
    auto const end_of_leader = leader.get();
    CHECK(end_of_leader.code == error_code::deadline_exceeded);
    CHECK(end_of_leader.took < soon);
    auto const end_of_follower = follower.get();
    CHECK(end_of_follower.code == error_code::deadline_exceeded);
    CHECK(end_of_follower.took < soon);
    reader.reset();
    CHECK(patient.get().code == error_code{});
    CHECK(items.scan_table().count().value() == 2);
}

namespace {

/// A clock that advances by a millisecond with each reading.
class asked_clock final : public entitable::clock {
public:
    date_time now() noexcept override { return date_time::from_date(2026, 1, 1); }
    steady_time steady() noexcept override { return steady_time{milliseconds{++asked_}}; }
    void wait_until(steady_time time) noexcept override {
        asked_ = std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count();
    }

private:
    std::atomic<std::int64_t> asked_{1'000};
};

} // namespace

TEST_CASE(
    "file: the rows of a dropped table are removed until the deadline of the call, and the remaining rows later") {
    temporary_folder const folder{temporary_folder::memory()};
    std::string const path = folder / "items.db";
    asked_clock time;
    file_options options;
    options.local.time = &time;
    options.durability = durability::relaxed;
    file_backend const store{path, options};
    auto const rows = [&] {
        sqlite3* database = nullptr;
        std::int64_t count = -1;
        auto const note = [](void* to, int, char** values, char**) {
            *static_cast<std::int64_t*>(to) = std::atoll(values[0]);
            return 0;
        };
        CHECK(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
        CHECK(sqlite3_exec(database, "SELECT count(*) FROM entitable_row", note, &count, nullptr) == SQLITE_OK);
        sqlite3_close(database);
        return count;
    };
    auto const made = store.store().create_table("t", "t");
    CHECK(made.value());
    std::int64_t const all = 20'000;
    CHECK(store.store().update("t", "p", [&](sqlite_store::transaction& staged) {
        for (std::int64_t row = 0; row < all; ++row) { staged.put(std::to_string(row), "bytes"); }
        return true;
    }));
    CHECK(rows() == all);
    call hurried;
    hurried.deadline = time.steady() + milliseconds{8};
    CHECK(store.store().drop_table("t", hurried).value());
    auto const left = rows();
    CHECK(left > 0);
    CHECK(left < all);
    CHECK(store.store().create_table("u", "u").value());
    CHECK(store.store().drop_table("u").value());
    CHECK(rows() == 0);

    // So does opening the file, for a while each time.
    CHECK(store.store().create_table("t", "t").value());
    CHECK(store.store().update("t", "p", [&](sqlite_store::transaction& staged) {
        for (std::int64_t row = 0; row < all; ++row) { staged.put(std::to_string(row), "bytes"); }
        return true;
    }));
    hurried.deadline = time.steady() + milliseconds{8};
    CHECK(store.store().drop_table("t", hurried).value());
    CHECK(rows() > 0);
    for (int openings = 0; openings < 50 && rows() > 0; ++openings) { file_backend const another{path}; }
    CHECK(rows() == 0);
}
