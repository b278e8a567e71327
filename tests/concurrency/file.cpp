// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Threads on one file: shared commits, readers that see whole transactions, bodies that are refused or throw within a shared
// commit.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/local/file/sqlite_store.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

struct stamp {
    std::string place;
    std::int32_t number{};
    std::int64_t value{};
};

ENTITABLE(stamp, partition_key(place), row_key(number), properties(value))

template <class Work>
void in_threads(std::size_t count, Work const& work) {
    std::vector<std::thread> running;
    for (std::size_t thread = 0; thread < count; ++thread) {
        running.emplace_back([&, thread] { work(thread); });
    }
    for (std::thread& each : running) { each.join(); }
}

} // namespace

TEST_CASE("file: a reader sees only whole transactions, and its snapshot stays the same") {
    constexpr std::int32_t rows = 20;
    temporary_folder const folder{temporary_folder::memory()};
    file_options options;
    options.checkpoint_bytes = 100'000;
    file_backend const store{folder / "stamps.db", options};
    table<stamp> const stamps{store, "stamps"};
    stamps.create().value();
    std::atomic<std::size_t> writers_left{2};
    std::atomic<std::size_t> mixed{0};
    std::atomic<std::size_t> seen{0};
    in_threads(5, [&](std::size_t thread) {
        if (thread < 2) {
            for (std::size_t round = 0; round < rounds(60, 5'000); ++round) {
                auto all = stamps.batch();
                for (std::int32_t row = 0; row < rows; ++row) {
                    all.insert_or_replace({"one", row, static_cast<std::int64_t>(round * 2 + thread)});
                }
                all.submit().value();
            }
            --writers_left;
            return;
        }
        using s = fields<stamp>;
        while (writers_left > 0) {
            std::vector<std::int64_t> values;
            for (stamp const& each : stamps.where(s::place == "one")) { values.push_back(each.value); }
            for (std::int64_t const each : values) { mixed += each != values.front() ? 1U : 0U; }
            mixed += values.empty() || values.size() == static_cast<std::size_t>(rows) ? 0U : 1U;
            ++seen;
        }
    });
    CHECK(mixed == 0);
    CHECK(seen > 20);
}

TEST_CASE("file: threads share commits, and each gets its own answer") {
    constexpr std::size_t threads = 8;
    temporary_folder const folder;
    file_backend const store{folder / "stamps.db"};
    table<stamp> const stamps{store, "stamps"};
    stamps.create().value();
    auto const count = static_cast<std::int32_t>(rounds(40, 2'000));
    std::atomic<std::size_t> first{0};
    in_threads(threads, [&](std::size_t thread) {
        for (std::int32_t row = 0; row < count; ++row) {
            // For each row of this place one of the threads is first.
            auto const shared = stamps.insert({"all", row, static_cast<std::int64_t>(thread)});
            first += shared ? 1U : 0U;
            if (!shared && shared.error().code != error_code::entity_already_exists) { first += 1'000'000; }
            stamps.insert({"place" + std::to_string(thread), row, row}).value();
        }
    });
    CHECK(first == static_cast<std::size_t>(count));
    CHECK(stamps.scan_table().count().value() == static_cast<std::uint64_t>(count) * (threads + 1));
    CHECK(store.verify().value().sound());
}

TEST_CASE("file: an exception from a body reaches its caller, and the other updates in the commit succeed") {
    temporary_folder const folder;
    file_backend const backend{folder / "stamps.db"};
    sqlite_store& store = backend.store();
    CHECK(store.create_table("t", "t").value());
    std::atomic<std::size_t> thrown{0};
    std::atomic<std::size_t> refused{0};
    std::atomic<std::size_t> kept{0};
    in_threads(6, [&](std::size_t thread) {
        for (std::size_t round = 0; round < 40; ++round) {
            std::string const row = std::to_string(thread) + "." + std::to_string(round);
            auto const body = [&](sqlite_store::transaction& rows) {
                rows.put(row, "bytes");
                if (thread == 0) { throw std::runtime_error{"on purpose"}; }
                return thread != 1;
            };
            try {
                auto const outcome = store.update("t", "p", body).value();
                ++(outcome == lookup::found ? kept : refused);
            } catch (std::runtime_error const&) { ++thrown; }
        }
    });
    CHECK(thrown == 40);
    CHECK(refused == 40);
    CHECK(kept == 160);
    std::size_t rows = 0;
    CHECK(store.scan("t", {"", "", std::nullopt}, [&](std::string_view, std::string_view row, std::string_view) {
        rows += row[0] >= '2' ? 1U : 1'000'000U;
        return true;
    }));
    CHECK(rows == 160);
}

TEST_CASE("file: tables are created and dropped while threads read and write") {
    temporary_folder const folder{temporary_folder::memory()};
    file_backend const store{folder / "stamps.db"};
    std::atomic<bool> stop{false};
    std::atomic<std::size_t> wrong{0};
    std::atomic<std::size_t> answers{0};
    in_threads(4, [&](std::size_t thread) {
        table<stamp> const stamps{store, "stamps"};
        if (thread == 0) {
            for (std::size_t round = 0; round < rounds(40, 2'000); ++round) {
                stamps.create().value();
                stamps.insert({"one", 1, 1}).value();
                stamps.drop().value();
            }
            stop = true;
            return;
        }
        while (!stop) {
            auto const read = stamps.get("one", 1);
            auto const written = stamps.insert_or_replace({"two", 1, 1});
            bool const known = (read || read.error().code == error_code::table_not_found ||
                                   read.error().code == error_code::resource_not_found) &&
                (written || written.error().code == error_code::table_not_found);
            wrong += known ? 0U : 1U;
            ++answers;
        }
    });
    CHECK(wrong == 0);
    CHECK(answers > 20);
}
