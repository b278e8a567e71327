// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Copies of a file that threads write to: each copy contains whole transactions, and all that were acknowledged before it
// began.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

struct account {
    std::string bank;
    std::int32_t number{};
    std::int64_t amount{};
    std::string filling;
};

ENTITABLE(account, partition_key(bank), row_key(number), properties(amount, filling))

using a = fields<account>;

/// Moves money from one of two accounts to the other, and counts the moves in the third.
result<std::vector<written>> move_money(table<account> const& accounts, std::string const& bank, std::int64_t move) {
    auto all = accounts.batch();
    all.insert_or_replace({bank, 0, 1'000 - move, std::string(static_cast<std::size_t>(move % 7) * 3'000, 'a')});
    all.insert_or_replace({bank, 1, 1'000 + move, std::string(static_cast<std::size_t>(move % 5) * 3'000, 'b')});
    all.insert_or_replace({bank, 2, move, {}});
    return all.submit();
}

} // namespace

TEST_CASE("file: copies made while threads write contain whole transactions and every write acknowledged before the "
          "copy began") {
    for (auto const journal : {file_journal::automatic, file_journal::rollback}) {
        temporary_folder const folder{temporary_folder::memory()};
        file_options options;
        options.journal = journal;
        options.checkpoint_bytes = 100'000;
        file_backend const store{folder / "accounts.db", options};
        table<account> const accounts{store, "accounts"};
        accounts.create().value();
        for (std::int32_t number = 0; number < 150; ++number) {
            accounts.insert({"filling", number, 0, std::string(20'000, 'x')}).value();
        }
        constexpr std::size_t writers = 3;
        std::atomic<std::int64_t> moved[writers]{};
        for (std::size_t number = 0; number < writers; ++number) {
            (void)move_money(accounts, std::to_string(number), 0).value();
        }
        std::atomic<bool> stop{false};
        std::atomic<std::size_t> refused{0};
        std::vector<std::thread> running;
        for (std::size_t number = 0; number < writers; ++number) {
            running.emplace_back([&, number] {
                for (std::int64_t move = 1; !stop; ++move) {
                    if (move_money(accounts, std::to_string(number), move)) {
                        moved[number] = move;
                    } else {
                        ++refused;
                    }
                }
            });
        }
        std::size_t mixed = 0;
        std::size_t missing = 0;
        for (std::size_t round = 0; round < rounds(4, 100); ++round) {
            std::int64_t before[writers]{};
            for (std::size_t number = 0; number < writers; ++number) { before[number] = moved[number]; }
            std::string const path = folder / ("copy" + std::to_string(round) + ".db");
            auto const copied = store.copy_to(path);
            REQUIRE(copied);
            file_backend const copy{path, options};
            CHECK(copy.verify().value().sound());
            table<account> const then{copy, "accounts"};
            for (std::size_t number = 0; number < writers; ++number) {
                std::string const bank = std::to_string(number);
                std::int64_t const move = then.get(bank, 2).value().amount;
                missing += move < before[number] ? 1U : 0U;
                mixed +=
                    then.get(bank, 0).value().amount == 1'000 - move && then.get(bank, 1).value().amount == 1'000 + move
                    ? 0U
                    : 1U;
            }
            CHECK(then.where(a::bank == "filling").count().value() == 150);
            std::this_thread::sleep_for(5ms);
        }
        stop = true;
        for (std::thread& each : running) { each.join(); }
        CHECK(mixed == 0);
        CHECK(missing == 0);
        CHECK(refused == 0);
        CHECK(moved[0] > 5);
        CHECK(store.verify().value().sound());
    }
}

TEST_CASE("file: if one file is copied to the same name several times concurrently, one copy succeeds") {
    temporary_folder const folder{temporary_folder::memory()};
    file_backend const store{folder / "accounts.db"};
    table<account> const accounts{store, "accounts"};
    accounts.create().value();
    for (std::int32_t number = 0; number < 100; ++number) {
        accounts.insert({"filling", number, 0, std::string(20'000, 'x')}).value();
    }
    std::atomic<std::size_t> copied{0};
    std::atomic<std::size_t> refused{0};
    std::vector<std::thread> running;
    for (std::size_t number = 0; number < 4; ++number) {
        running.emplace_back([&] {
            auto const outcome = store.copy_to(folder / "copy.db");
            copied += outcome ? 1U : 0U;
            refused += !outcome && outcome.error().code == error_code::store_failed ? 1U : 0U;
        });
    }
    for (std::thread& each : running) { each.join(); }
    CHECK(copied == 1);
    CHECK(refused == 3);
    CHECK(file_backend{folder / "copy.db"}.verify().value().rows == 100);
    std::size_t left = 0;
    for (auto const& each : std::filesystem::directory_iterator{folder.path()}) {
        left += each.path().string().ends_with("-copying") ? 1U : 0U;
    }
    CHECK(left == 0);
}

TEST_CASE("file: a copy under load ends with its deadline") {
    temporary_folder const folder;
    for (auto const journal : {file_journal::automatic, file_journal::rollback}) {
        file_options options;
        options.journal = journal;
        file_backend const store{folder / (journal == file_journal::rollback ? "rollback.db" : "log.db"), options};
        table<account> const accounts{store, "accounts"};
        accounts.create().value();
        for (std::int32_t number = 0; number < 100; ++number) {
            accounts.insert({"filling", number, 0, std::string(20'000, 'x')}).value();
        }
        std::atomic<bool> stop{false};
        std::vector<std::thread> running;
        for (std::size_t number = 0; number < 3; ++number) {
            running.emplace_back([&, number] {
                for (std::int64_t move = 1; !stop; ++move) { (void)move_money(accounts, std::to_string(number), move); }
            });
        }
        for (auto const timeout : {100ms, 200ms}) {
            auto const begun = std::chrono::steady_clock::now();
            auto const outcome =
                store.copy_to(folder / "copy.db", {.call = {.timeout = timeout}, .bytes_per_second = 300'000});
            auto const took = std::chrono::steady_clock::now() - begun;
            REQUIRE_FALSE(outcome);
            CHECK(outcome.error().code == error_code::deadline_exceeded);
            CHECK(took >= timeout);
            CHECK(took < timeout * 5); // the machine may be busy
        }
        stop = true;
        for (std::thread& each : running) { each.join(); }
        CHECK_FALSE(std::filesystem::exists(folder / "copy.db"));
    }
}
