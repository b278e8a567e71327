// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Files that cannot grow any more: every answer is true, removals still work, and the space they free can be used again, with either
// journal, in the same process, in another process, and after the file was closed. Uses the system's limit on file sizes, in separate
// processes, and a small file system if one can be mounted.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/local/file/sqlite_store.hpp>

#include <sqlite3.h>
#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/temporary_folder.hpp>
#include <sys/mount.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

using namespace entitable;
using namespace entitable_test;

namespace {

struct item {
    std::string part;
    std::int64_t id{};
    std::string text;
};

ENTITABLE(item, partition_key(part), row_key(id), properties(text))

item row_of(std::int64_t id) { return {"p", id, std::string(4'000, static_cast<char>('a' + id % 26))}; }

/// In a child process, which ends with it.
void demand(bool holds, std::string const& what) {
    if (!holds) { throw std::runtime_error{what}; }
}

void limit_files(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit const limit{bytes, RLIM_INFINITY};
    demand(::setrlimit(RLIMIT_FSIZE, &limit) == 0, "no limit");
}

file_options with(file_journal journal) {
    file_options options;
    options.journal = journal;
    options.busy_timeout = std::chrono::milliseconds{1'000}; // a short wait while others read the log
    return options;
}

/// A file that is reopened on demand, and its expected content.
class filled_file {
public:
    filled_file(std::string path, file_journal journal) : path_(std::move(path)), journal_(journal) {
        open();
        items().create_if_absent().value();
    }
    [[nodiscard]] table<item> const& items() const { return *items_; }
    [[nodiscard]] file_backend const& store() const { return *store_; }
    void reopen() {
        items_.reset();
        store_.reset();
        open();
    }

    /// Makes a number of inserts, each stored or refused. Returns how many were stored.
    std::size_t insert(std::int64_t from, std::int64_t count) {
        std::size_t made = 0;
        for (std::int64_t id = from; id < from + count; ++id) {
            auto const outcome = items().insert(row_of(id));
            if (outcome) {
                kept_.insert(id);
                ++made;
            } else {
                demand(outcome.error().code == error_code::store_full, outcome.error().to_string());
                demand(outcome.error().effect == effect::none, "a refusal is unknown");
            }
        }
        return made;
    }
    /// The same in transactions of ten entities.
    std::size_t insert_tens(std::int64_t from, std::int64_t count) {
        std::size_t made = 0;
        for (std::int64_t first = from; first < from + count; first += 10) {
            auto batch = items().batch();
            for (std::int64_t id = first; id < first + 10; ++id) { batch.insert(row_of(id)); }
            auto const outcome = batch.submit();
            demand(
                outcome || (outcome.error().code == error_code::store_full && outcome.error().effect == effect::none),
                "a batch is neither kept nor refused");
            for (std::int64_t id = first; outcome && id < first + 10; ++id) {
                kept_.insert(id);
                ++made;
            }
        }
        return made;
    }
    /// All of these removals succeed.
    void remove(std::size_t count) {
        for (std::int64_t const id : std::set<std::int64_t>{kept_}) {
            if (count-- == 0) { break; }
            items().remove("p", id, any_etag).value();
            kept_.erase(id);
        }
    }
    void drop() {
        items().drop().value();
        items().create().value();
        kept_.clear();
    }
    /// The stored rows are the acknowledged ones.
    void check() const {
        std::set<std::int64_t> found;
        items()
            .scan_table()
            .for_each([&](item const& each) {
                demand(each.text == row_of(each.id).text, "another text");
                found.insert(each.id);
            })
            .value();
        demand(found == kept_, std::to_string(found.size()) + " rows in the place of " + std::to_string(kept_.size()));
    }
    [[nodiscard]] std::size_t size() const noexcept { return kept_.size(); }

private:
    void open() {
        store_ = std::make_unique<file_backend>(path_, with(journal_));
        items_ = std::make_unique<table<item>>(*store_, "items");
    }

    std::string path_;
    file_journal journal_;
    std::unique_ptr<file_backend> store_;
    std::unique_ptr<table<item>> items_;
    std::set<std::int64_t> kept_;
};

/// Fills the file, and frees space by removing rows and dropping the table.
void there_and_back(filled_file& file, bool reopened) {
    auto const reopen = [&] {
        if (reopened) { file.reopen(); }
    };
    std::size_t const first = file.insert(0, 400);
    demand(first > 100 && first < 400, "not filled: " + std::to_string(first));
    demand(file.insert_tens(1'000, 100) < 100, "batches find room");
    reopen();
    file.check();
    file.remove(60);
    file.store().checkpoint().value();
    reopen();
    std::size_t const again = file.insert(2'000, 60);
    demand(again > 40, "removals gave room for " + std::to_string(again));
    file.check();
    reopen();
    file.drop();
    reopen();
    std::size_t const anew = file.insert(3'000, 400);
    demand(anew > first - first / 10, "the removal of the table gave room for " + std::to_string(anew));
    file.check();
}

constexpr file_journal journals[] = {file_journal::automatic, file_journal::rollback};
constexpr std::chrono::seconds long_enough{60};

} // namespace

TEST_CASE("a full disk: answers are correct, and the store recovers") {
    for (auto const journal : journals) {
        for (bool const reopened : {false, true}) {
            CAPTURE(static_cast<int>(journal), reopened);
            temporary_folder const folder{temporary_folder::memory()};
            child_process limited{[&] {
                limit_files(2'000'000);
                filled_file file{folder / "items.db", journal};
                there_and_back(file, reopened);
                limit_files(RLIM_INFINITY); // space was freed from outside
                demand(file.insert(10'000, 50) == 50, "does not go on when there is room");
                file.check();
                demand(file.store().verify().value().sound(), "not sound");
                return true;
            }};
            CHECK(limited.succeeds(long_enough));
        }
    }
}

TEST_CASE("a full disk: a small file system that is full behaves the same") {
    for (auto const journal : journals) {
        for (bool const reopened : {false, true}) {
            CAPTURE(static_cast<int>(journal), reopened);
            temporary_folder const folder;
            if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=3m,mode=0700") != 0) {
                WARN("skipped: a file system cannot be mounted here");
                return;
            }
            child_process writer{[&] {
                filled_file file{folder / "items.db", journal};
                there_and_back(file, reopened);
                demand(file.store().verify().value().sound(), "not sound");
                return true;
            }};
            CHECK(writer.succeeds(long_enough));
            ::umount2(folder.path().c_str(), MNT_DETACH);
        }
    }
}

TEST_CASE("a full disk: a killed process loses nothing, and two processes recover once there is free space") {
    struct seen {
        std::atomic<std::int64_t> tried;
        std::atomic<bool> kept[2'000];
        std::atomic<bool> refused[2'000];
    };
    for (auto const journal : journals) {
        CAPTURE(static_cast<int>(journal));
        temporary_folder const folder{temporary_folder::memory()};
        std::string const path = folder / "items.db";
        shared_memory<seen> const all;
        table<item>{file_backend{path, with(journal)}, "items"}.create().value();
        auto const fill = [&] {
            limit_files(1'000'000);
            table<item> const items{file_backend{path, with(journal)}, "items"};
            for (std::int64_t id = all->tried++; id < 2'000; id = all->tried++) {
                auto const outcome = items.insert(row_of(id));
                (outcome ? all->kept : all->refused)[id] = outcome || outcome.error().effect == effect::none;
            }
            return true;
        };
        for (int round = 0; round < 12; ++round) {
            child_process one{fill};
            child_process other{fill};
            ::usleep(20'000 + static_cast<useconds_t>(round) * 2'000);
        }
        child_process last{fill};
        ::usleep(100'000);
        last.kill();
        std::set<std::int64_t> found;
        table<item>{file_backend{path, with(journal)}, "items"}
            .scan_table()
            .for_each([&](item const& each) { found.insert(each.id); })
            .value();
        std::size_t lost = 0;
        std::size_t refused = 0;
        std::size_t there = 0;
        for (std::int64_t id = 0; id < 2'000; ++id) {
            lost += all->kept[id] && !found.contains(id) ? 1U : 0U;
            refused += all->refused[id] ? 1U : 0U;
            there += all->refused[id] && found.contains(id) ? 1U : 0U;
        }
        CHECK(lost == 0);
        CHECK(there == 0);
        CHECK(refused > 20);
        // One frees space, then the other writes.
        child_process back{[&] {
            limit_files(1'000'000);
            table<item> const items{file_backend{path, with(journal)}, "items"};
            std::size_t left = 30;
            for (std::int64_t const id : found) {
                if (left > 0) {
                    items.remove("p", id, any_etag).value();
                    --left;
                }
            }
            return true;
        }};
        CHECK(back.succeeds(long_enough));
        child_process writer{[&] {
            limit_files(1'000'000);
            table<item> const items{file_backend{path, with(journal)}, "items"};
            std::size_t made = 0;
            for (std::int64_t id = 5'000; id < 5'030; ++id) { made += items.insert(row_of(id)) ? 1U : 0U; }
            demand(made > 20, "removals of another process gave room for " + std::to_string(made));
            return true;
        }};
        CHECK(writer.succeeds(long_enough));
    }
}

TEST_CASE("a full disk: a reader of the log delays recovery only while it reads") {
    temporary_folder const folder{temporary_folder::memory()};
    child_process limited{[&] {
        limit_files(2'000'000);
        std::string const path = folder / "items.db";
        filled_file file{path, file_journal::automatic};
        demand(file.insert(0, 20) == 20, "no room");
        sqlite3* reader = nullptr;
        demand(sqlite3_open(path.c_str(), &reader) == SQLITE_OK &&
                sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM entitable_table", nullptr, nullptr, nullptr) ==
                    SQLITE_OK,
            "no reader");
        std::size_t const beside = file.insert(1'000, 60);
        demand(beside < 60, "the log has room");
        file.check();
        sqlite3_close(reader);
        demand(file.insert(2'000, 20) == 20, "does not go on when nobody reads the log");
        file.remove(20);
        file.check();
        demand(file.store().verify().value().sound(), "not sound");
        return true;
    }};
    CHECK(limited.succeeds(long_enough));
}

TEST_CASE("a full disk: a process that ended while it extended the file leaves no unused space") {
    temporary_folder const folder{temporary_folder::memory()};
    std::string const path = folder / "items.db";
    table<item>{file_backend{path}, "items"}.create().value();
    constexpr std::uintmax_t limit = 1'000'000; // within a page
    std::filesystem::resize_file(path, limit);
    child_process limited{[&] {
        limit_files(limit);
        filled_file file{path, file_journal::automatic};
        demand(file.insert(0, 40) == 40, "no room");
        file.store().checkpoint().value();
        file.check();
        return true;
    }};
    CHECK(limited.succeeds(long_enough));
}
