// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Who may write to a file, change its journal and end its log; and the settings of a file that apply to everyone who opens it.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/tables.hpp>

#include <fcntl.h>
#include <sqlite3.h>
#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/guarded_sql.hpp>
#include <support/held_lock.hpp>
#include <support/long.hpp>
#include <support/tally.hpp>
#include <support/temporary_folder.hpp>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

file_options with(file_journal journal, std::chrono::nanoseconds patience = 100ms) {
    file_options options;
    options.journal = journal;
    options.busy_timeout = patience;
    options.checkpoint_bytes = 100'000;
    return options;
}

constexpr auto rollback = file_journal::rollback;
constexpr auto automatic = file_journal::automatic;

std::uint64_t inode_of(std::string const& path) {
    struct stat about{};
    return ::stat(path.c_str(), &about) == 0 ? static_cast<std::uint64_t>(about.st_ino) : 0;
}

bool opens_and_writes(std::string const& path, file_options const& options, std::int32_t batch) {
    auto const store = file_backend::open(path, options);
    return store && write_batch(table<mark>{*store, "marks"}, "other", batch);
}

} // namespace

TEST_CASE("locks: opening a file with the other journal returns StoreBusy while the file is open, in either order, and "
          "succeeds afterwards") {
    temporary_folder const folder;
    std::string const path = folder / "marks.db";
    for (auto const& [mine, theirs] : {std::pair{rollback, automatic}, std::pair{automatic, rollback}}) {
        {
            file_backend const store{path, with(mine)};
            table<mark> const marks{store, "marks"};
            marks.create_if_absent().value();
            CHECK(write_batch(marks, "w", mine == rollback ? 0 : 1));
            auto const here = file_backend::open(path, with(theirs));
            REQUIRE_FALSE(here);
            CHECK(here.error().code == error_code::store_busy);
            child_process other{[&, wanted = theirs] {
                auto const opened = file_backend::open(path, with(wanted));
                return !opened && opened.error().code == error_code::store_busy;
            }};
            CHECK(other.succeeds());
            CHECK(opens_and_writes(path, with(mine), mine == rollback ? 0 : 1));
            for (std::int32_t batch = 10; batch < 60; ++batch) {
                CHECK(write_batch(marks, mine == rollback ? "a" : "b", batch));
            }
            CHECK(fs::exists(path + "-wal") == (mine == automatic));
            if (mine == automatic) { CHECK(fs::file_size(path + "-wal") < 500'000); }
        }
        CHECK_FALSE(fs::exists(path + "-wal"));
    }
    file_backend const store{path, with(rollback)};
    CHECK(store.verify().value().rows == 1'040);
    CHECK(store.verify().value().sound());
}

TEST_CASE(
    "locks: processes that open a file with either journal at any time agree on one journal, and no write is lost") {
    temporary_folder const folder;
    std::string const path = folder / "marks.db";
    struct counts {
        std::atomic<std::int32_t> kept[4];
        std::atomic<std::int32_t> busy;
    };
    shared_memory<counts> const seen;
    std::vector<child_process> processes;
    for (std::size_t number = 0; number < 4; ++number) {
        processes.emplace_back([&, number] {
            auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds{rounds(700, 20'000, 700)};
            while (std::chrono::steady_clock::now() < until) {
                auto const store = file_backend::open(path, with(number % 2 == 0 ? rollback : automatic, 20ms));
                if (!store) {
                    if (store.error().code != error_code::store_busy) { return false; }
                    ++seen->busy;
                    continue;
                }
                table<mark> const marks{*store, "marks"};
                if (auto const made = marks.create_if_absent(); !made && made.error().code != error_code::store_busy) {
                    return false;
                }
                for (int batch = 0; batch < 3; ++batch) {
                    auto const written = write_batch(marks, "w" + std::to_string(number), seen->kept[number]);
                    seen->kept[number] += written ? 1 : 0;
                    if (!written &&
                        (written.error().code != error_code::store_busy &&
                            written.error().code != error_code::table_not_found)) {
                        return false;
                    }
                }
            }
            return true;
        });
    }
    for (child_process& each : processes) { CHECK(each.succeeds(60s)); }
    file_backend const store{path};
    tally kept;
    for (std::size_t number = 0; number < 4; ++number) {
        for (std::int32_t batch = 0; batch < seen->kept[number]; ++batch) {
            kept.note("w" + std::to_string(number), batch, batch_fate::kept);
        }
    }
    CHECK(kept.check(table<mark>{store, "marks"}) == "");
    CHECK(kept.kept() > 10);
    CHECK(seen->busy > 0);
    CHECK(store.verify().value().sound());
}

TEST_CASE("locks: a known file can be opened and read during a long write by another process, and writers wait with "
          "either journal") {
    temporary_folder const folder;
    for (auto const journal : {automatic, rollback}) {
        std::string const path = folder / (journal == rollback ? "rollback.db" : "log.db");
        table<mark>{file_backend{path, with(journal)}, "marks"}.create().value();
        REQUIRE(opens_and_writes(path, with(journal), 0));
        held_lock const stopped{path};
        file_options patient = with(journal, 30s);
        auto const begun = std::chrono::steady_clock::now();
        {
            file_backend const reading{path, patient};
            CHECK(table<mark>{reading, "marks"}.get("other", 0, 0));
            CHECK(reading.verify().value().sound());
        }
        CHECK(std::chrono::steady_clock::now() - begun < 10s);
        file_backend const store{path, with(journal)};
        table<mark> const marks{store, "marks"};
        CHECK(write_batch(marks, "w", 0).error().code == error_code::store_busy);
        CHECK(marks.get("other", 0, 0));
        file_options other = with(journal == rollback ? automatic : rollback);
        CHECK(file_backend::open(path, other).error().code == error_code::store_busy);
        CHECK(file_backend::open(folder / "new.db")); // another file has another lock
    }
}

TEST_CASE("locks: only the last process that closes a file removes its log") {
    temporary_folder const folder;
    std::string const path = folder / "marks.db";
    {
        file_backend const store{path};
        table<mark> const marks{store, "marks"};
        marks.create().value();
        CHECK(write_batch(marks, "w", 0));
        std::uint64_t const log = inode_of(path + "-wal");
        std::uint64_t const index = inode_of(path + "-shm");
        CHECK(log != 0);
        CHECK(opens_and_writes(path, {}, 0));
        child_process other{[&] { return opens_and_writes(path, {}, 1); }};
        CHECK(other.succeeds());
        CHECK(inode_of(path + "-wal") == log);
        CHECK(inode_of(path + "-shm") == index);
        CHECK(write_batch(marks, "w", 1));
    }
    CHECK_FALSE(fs::exists(path + "-wal"));
    CHECK_FALSE(fs::exists(path + "-shm"));
    CHECK(file_backend{path}.verify().value().rows == 40);
}

TEST_CASE("locks: copying an open file loses no acknowledged write, whether the process is killed or closes it") {
    for (bool const killed : {true, false}) {
        for (bool const copied : {false, true}) {
            CAPTURE(killed, copied);
            temporary_folder const folder;
            std::string const path = folder / "marks.db";
            shared_memory<std::atomic<int>> const turn;
            child_process first{[&] {
                auto* const store = new file_backend{path};
                auto* const marks = new table<mark>{*store, "marks"};
                marks->create().value();
                auto const write = [&](std::int32_t from) {
                    for (std::int32_t batch = from; batch < from + 10; ++batch) {
                        write_batch(*marks, "w", batch).value();
                    }
                };
                auto const others_turn = [&] {
                    int const mine = ++*turn;
                    while (*turn == mine) { ::usleep(500); }
                };
                write(0);
                store->checkpoint().value();
                if (copied) { fs::copy_file(path, path + ".copy"); }
                others_turn();
                write(10);
                if (killed) { ::kill(::getpid(), SIGKILL); }
                others_turn();
                write(20);
                delete marks;
                delete store;
                return true;
            }};
            tally kept;
            for (int round = 0; round < (killed ? 1 : 2); ++round) {
                while (*turn != 2 * round + 1) { ::usleep(500); }
                child_process other{[&] { return opens_and_writes(path, {}, round); }};
                CHECK(other.succeeds());
                kept.note("other", round, batch_fate::kept);
                ++*turn;
            }
            CHECK(first.succeeds() != killed);
            for (std::int32_t batch = 0; batch < (killed ? 20 : 30); ++batch) {
                kept.note("w", batch, batch_fate::kept);
            }
            file_backend const store{path};
            CHECK(kept.check(table<mark>{store, "marks"}) == "");
            CHECK(store.verify().value().sound());
        }
    }
}

TEST_CASE("locks: deleting the log of an open file loses no acknowledged write") {
    temporary_folder const folder;
    std::string const path = folder / "marks.db";
    tally kept;
    {
        file_backend const store{path};
        table<mark> const marks{store, "marks"};
        marks.create().value();
        for (std::int32_t batch = 0; batch < 6; ++batch) {
            if (batch % 2 == 1) { fs::remove(path + "-wal"); }
            kept.note("w", batch, write_batch(marks, "w", batch));
        }
    }
    file_backend const store{path};
    CHECK(kept.check(table<mark>{store, "marks"}) == "");
    CHECK(kept.kept() == 6);
    CHECK(store.verify().value().sound());
}

TEST_CASE("locks: a deleted or emptied log is restored, unless another process has started a new log") {
    enum class place { removed, removed_with_index, emptied, begun };
    for (place const now : {place::removed, place::removed_with_index, place::emptied, place::begun}) {
        CAPTURE(static_cast<int>(now));
        temporary_folder const folder;
        std::string const path = folder / "marks.db";
        file_options options; // with a long log, none of which is checkpointed yet
        options.busy_timeout = 100ms;
        tally kept;
        {
            file_backend const store{path, options};
            table<mark> const marks{store, "marks"};
            marks.create().value();
            std::int32_t batch = 0;
            auto const write = [&] {
                for (int each = 0; each < 4; ++each, ++batch) { kept.note("w", batch, write_batch(marks, "w", batch)); }
            };
            write();
            if (now == place::begun) { store.checkpoint().value(); }
            switch (now) {
                case place::removed_with_index: fs::remove(path + "-shm"); [[fallthrough]];
                case place::begun:
                case place::removed: fs::remove(path + "-wal"); break;
                case place::emptied:
                    std::ofstream{folder / "other"}.close();
                    fs::rename(folder / "other", path + "-wal");
                    break;
            }
            child_process other{[&] { return opens_and_writes(path, options, 0); }};
            bool const wrote = other.succeeds();
            CHECK((wrote || now != place::begun));
            kept.note("other", 0, wrote ? batch_fate::kept : batch_fate::unknown);
            if (now != place::begun) { // otherwise it is the close that ignores the other log
                write();
                CHECK(kept.kept() >= 8);
            }
        }
        file_backend const store{path, options};
        CHECK(kept.check(table<mark>{store, "marks"}) == "");
        CHECK(store.verify().value().sound());
    }
}

TEST_CASE("locks: a profile with a different rule for table names is refused, and the error names both") {
    temporary_folder const folder;
    std::string const path = folder / "marks.db";
    file_options with_case;
    with_case.local.limits = cosmos_profile();
    {
        file_backend const store{path};
        row_table{store, "Orders"}.create().value();
    }
    auto const refused = file_backend::open(path, with_case);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::store_foreign);
    CHECK_THAT(refused.error().message, ContainsSubstring("are one table"));
    CHECK_THAT(refused.error().message, ContainsSubstring("are two tables"));
    file_options azure;
    azure.local.limits = storage_profile(); // with other limits, and the same names
    CHECK(file_backend::open(path, azure));
    {
        file_backend const store{folder / "cased.db", with_case};
        row_table{store, "Orders"}.create().value();
        row_table{store, "orders"}.create().value();
        CHECK(store.verify().value().sound());
    }
    CHECK(file_backend::open(folder / "cased.db").error().code == error_code::store_foreign);

    // Two tables with one name, as an old program could leave them.
    run_sql_with_checksums(path, "INSERT INTO entitable_table (key, name) VALUES (CAST('Orders' AS BLOB), 'Orders')");
    auto const report = file_backend{path}.verify().value();
    CHECK_FALSE(report.sound());
    CHECK_THAT(report.problems.back(), ContainsSubstring("differ only in case"));
    run_sql_with_checksums(path, "UPDATE entitable_state SET value = 2 WHERE name = 'names_without_case'");
    CHECK(file_backend::open(path).error().code == error_code::store_foreign);
    run_sql_with_checksums(path, "DELETE FROM entitable_state WHERE name = 'names_without_case'");
    CHECK(file_backend::open(path).error().code == error_code::store_foreign);
}

TEST_CASE("locks: a writer in another process gets its turn while many threads write without a pause") {
    temporary_folder const folder{temporary_folder::memory()};
    std::string const path = folder / "marks.db";
    table<mark>{file_backend{path}, "marks"}.create().value();
    shared_memory<std::atomic<std::int32_t>> const others;
    child_process hot{[&] {
        table<mark> const marks{file_backend{path}, "marks"};
        std::vector<std::thread> running;
        for (std::int32_t thread = 0; thread < 4; ++thread) {
            running.emplace_back([&, thread] {
                for (std::int32_t batch = 0;; ++batch) {
                    marks.insert(make_mark("hot" + std::to_string(thread), batch, 0)).value();
                    ++*others;
                }
            });
        }
        running.front().join();
        return true;
    }};
    while (*others < 20) { std::this_thread::sleep_for(std::chrono::milliseconds{1}); }
    table<mark> const marks{file_backend{path}, "marks"};
    std::vector<std::int32_t> between;
    for (std::int32_t batch = 0; batch < 60; ++batch) {
        std::int32_t const before = *others;
        marks.insert(make_mark("single", batch, 0)).value();
        between.push_back(*others - before);
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    std::sort(between.begin(), between.end());
    CAPTURE(between[30], between[54], between.back());
    CHECK(between[54] < 200); // ten, usually
}
