// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Files and paths that are refused, each with its code, and not changed.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <fcntl.h>
#include <sqlite3.h>
#include <support/catch.hpp>
#include <support/guarded_sql.hpp>
#include <support/temporary_folder.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

using namespace entitable;
using namespace entitable_test;

namespace {

struct runner {
    std::string race;
    std::int32_t bib{};
    std::string name;
};

ENTITABLE(runner, partition_key(race), row_key(bib), properties(name))

error_code refusal(std::string const& path, file_options const& options = {}) {
    auto const opened = file_backend::open(path, options);
    if (!opened) {
        CHECK(opened.error().effect == effect::none);
        CHECK_FALSE(opened.error().message.empty());
    }
    return opened ? error_code{} : opened.error().code;
}
std::string content(std::string const& path) {
    std::ostringstream all;
    all << std::ifstream{path, std::ios::binary}.rdbuf();
    return all.str();
}
void write(std::string const& path, std::string const& bytes) { std::ofstream{path, std::ios::binary} << bytes; }
void run_sql(std::string const& path, char const* text) {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
    REQUIRE(sqlite3_exec(database, text, nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(database);
}
void make_file(std::string const& path) {
    file_backend const store{path};
    table<runner> const runners{store, "runners"};
    runners.create().value();
    runners.insert({"Boston", 7, "Ann"}).value();
}

} // namespace

TEST_CASE("bad files: an empty file becomes a store") {
    temporary_folder const folder;
    write(folder / "empty.db", "");
    CHECK(refusal(folder / "empty.db") == error_code{});
}

TEST_CASE("bad files: a text file, short or long, is refused and not changed") {
    temporary_folder const folder;
    for (std::string const& text :
        {std::string{"hello\n"}, std::string(5000, 'x'), std::string("SQLite format 3\0 and more", 25)}) {
        write(folder / "text.db", text);
        CHECK(refusal(folder / "text.db") == error_code::store_foreign);
        CHECK(content(folder / "text.db") == text);
    }
}

TEST_CASE("bad files: only regular files are accepted") {
    temporary_folder const folder;
    std::filesystem::create_directory(folder / "folder");
    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    for (std::string const& path : {folder / "folder", folder / "fifo", std::string{"/dev/full"},
             std::string{"/dev/null"}, folder / "missing/runners.db"}) {
        CAPTURE(path);
        CHECK(refusal(path) == error_code::store_failed);
    }
    file_options options;
    options.create = false;
    CHECK(refusal(folder / "absent.db", options) == error_code::store_failed);
    CHECK_FALSE(std::filesystem::exists(folder / "absent.db"));
}

TEST_CASE("bad files: invalid paths are refused, and names that look like URIs are plain file names") {
    temporary_folder const folder;
    CHECK(refusal("") == error_code::invalid_input);
    CHECK(refusal(folder / std::string("a\0b.db", 6)) == error_code::invalid_input);
    CHECK(refusal(folder / std::string(5000, 'x')) == error_code::store_failed);
    auto const before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    for (std::string const name :
        {":memory:", "file:x.db?mode=memory", "file:y.db?immutable=1&vfs=unix-none", "-x.db", "a b'\".db"}) {
        make_file(name);
        CHECK(std::filesystem::exists(folder / name)); // a file with exactly this name
    }
    std::filesystem::current_path(before);
}

TEST_CASE("bad files: a symbolic link is only followed if that is allowed") {
    temporary_folder const folder;
    make_file(folder / "runners.db");
    std::filesystem::create_symlink(folder / "runners.db", folder / "link.db");
    std::filesystem::create_symlink(folder / "nothing.db", folder / "dangling.db");
    CHECK(refusal(folder / "link.db") == error_code::store_failed);
    CHECK(refusal(folder / "dangling.db") == error_code::store_failed);
    CHECK_FALSE(std::filesystem::exists(folder / "nothing.db"));
    std::filesystem::create_symlink(folder / "elsewhere", folder / "locked.db-lock");
    CHECK(refusal(folder / "locked.db") == error_code::store_failed);
    CHECK_FALSE(std::filesystem::exists(folder / "elsewhere"));
    file_options options;
    options.allow_symlink = true;
    CHECK(refusal(folder / "link.db", options) == error_code{});
}

TEST_CASE("bad files: only the owner can read new files") {
    temporary_folder const folder;
    auto const old = ::umask(0);
    file_backend const store{folder / "runners.db"};
    table<runner> const runners{store, "runners"};
    runners.create().value();
    ::umask(old);
    std::size_t files = 0;
    for (auto const& each : std::filesystem::directory_iterator{folder.path()}) {
        CAPTURE(each.path().string());
        struct stat about{};
        REQUIRE(::stat(each.path().c_str(), &about) == 0);
        CHECK((about.st_mode & 0777) == 0600);
        ++files;
    }
    CHECK(files == 4); // with -wal, -shm and -lock
}

TEST_CASE("bad files: a database of another application is refused and not changed") {
    temporary_folder const folder;
    run_sql(folder / "other.db", "CREATE TABLE t (x); INSERT INTO t VALUES (1)");
    run_sql(folder / "marked.db", "PRAGMA application_id = 7; CREATE TABLE t (x)");
    for (char const* const name : {"other.db", "marked.db"}) {
        auto const before = content(folder / name);
        CHECK(refusal(folder / name) == error_code::store_foreign);
        CHECK(content(folder / name) == before);
    }
}

TEST_CASE("bad files: a newer format has its own error code") {
    temporary_folder const folder;
    make_file(folder / "runners.db");
    run_sql_with_checksums(folder / "runners.db", "PRAGMA user_version = 2");
    CHECK(refusal(folder / "runners.db") == error_code::store_newer);
}

TEST_CASE("bad files: a hostile schema is refused, and additional views of the user are accepted") {
    temporary_folder const folder;
    struct attempt {
        char const* sql;
        error_code code;
    };
    for (attempt const each :
        {attempt{"CREATE TRIGGER t AFTER INSERT ON entitable_row BEGIN DELETE FROM entitable_row; END",
             error_code::store_foreign},
            attempt{"CREATE INDEX i ON entitable_row (abs(table_id))", error_code::store_foreign},
            attempt{"ALTER TABLE entitable_row ADD COLUMN x DEFAULT (1)", error_code::store_foreign},
            attempt{"DROP TABLE entitable_state", error_code::store_foreign},
            attempt{"CREATE TABLE mine (x); CREATE VIEW v AS SELECT * FROM mine", error_code{}}}) {
        CAPTURE(each.sql);
        std::string const path = folder / "runners.db";
        make_file(path);
        run_sql_with_checksums(path, each.sql);
        CHECK(refusal(path) == each.code);
        std::filesystem::remove(path);
    }
}

TEST_CASE("bad files: a file truncated at any page is refused with an error and does not crash") {
    temporary_folder const folder;
    make_file(folder / "runners.db");
    auto const whole = content(folder / "runners.db");
    for (std::size_t size = 512; size < whole.size(); size += 4096) {
        write(folder / "cut.db", whole.substr(0, size));
        auto const store = file_backend::open(folder / "cut.db");
        if (store) {
            auto const report = store->verify();
            CHECK((!report || !report->sound()));
        }
        std::filesystem::remove(folder / "cut.db");
    }
}

TEST_CASE("bad files: if another program locks a file indefinitely, a call ends at its deadline or the busy timeout") {
    temporary_folder const folder;
    testing::manual_clock time;
    file_options options;
    options.local.time = &time;
    options.busy_timeout = std::chrono::seconds{30};
    file_backend const store{folder / "runners.db", options};
    table<runner> const runners{store, "runners"};
    runners.create().value();
    int const lock = ::open((folder / "runners.db-lock").c_str(), O_RDWR);
    REQUIRE(::flock(lock, LOCK_EX) == 0);
    auto const begun = time.steady();
    auto const busy = runners.insert({"Boston", 7, "Ann"});
    CHECK(busy.error().code == error_code::store_busy);
    CHECK(busy.error().effect == effect::none);
    CHECK(time.steady() - begun >= std::chrono::seconds{30});
    CHECK(time.steady() - begun < std::chrono::seconds{31});
    call context;
    context.deadline = time.steady() + std::chrono::seconds{3};
    auto const late =
        store.execute(write_entity{"runners", mutation::insert(to_row(runner{"Boston", 7, "Ann"}).value())}, context);
    CHECK(late.error().code == error_code::deadline_exceeded);
    CHECK(time.steady() - context.deadline < std::chrono::seconds{1});
    CHECK(runners.get("Boston", 7).error().code == error_code::resource_not_found); // readers do not wait
    ::close(lock);
    CHECK(runners.insert({"Boston", 7, "Ann"}));
    // The same with SQLite's own lock, by a program that knows no other.
    sqlite3* foreign = nullptr;
    REQUIRE(sqlite3_open((folder / "runners.db").c_str(), &foreign) == SQLITE_OK);
    REQUIRE(sqlite3_exec(foreign, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK);
    CHECK(runners.insert({"Boston", 8, "Ann"}).error().code == error_code::store_busy);
    sqlite3_close(foreign);
    CHECK(runners.insert({"Boston", 8, "Ann"}));
}

TEST_CASE("bad files: use after fork is refused, and the other process is not harmed") {
    temporary_folder const folder;
    std::optional<file_backend> store{std::in_place, folder / "runners.db"};
    std::optional<table<runner>> runners{std::in_place, *store, "runners"};
    runners->create().value();
    pid_t const child = ::fork();
    if (child == 0) {
        bool const reads = runners->get("Boston", 7).error().code == error_code::store_failed;
        bool const writes = runners->insert({"Boston", 7, "Ann"}).error().code == error_code::store_failed;
        runners.reset();
        store.reset();
        ::_exit(reads && writes ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(runners->insert({"Boston", 7, "Ann"}));
    CHECK(runners->get("Boston", 7));
}

TEST_CASE("bad files: a file that is deleted or replaced while it is open is reported") {
    temporary_folder const folder;
    for (bool const replaced : {false, true}) {
        file_backend const store{folder / "runners.db"};
        table<runner> const runners{store, "runners"};
        runners.create().value();
        runners.insert({"Boston", 7, "Ann"}).value();
        for (char const* const end : {"", "-wal", "-shm"}) {
            std::filesystem::rename(
                folder / (std::string{"runners.db"} + end), folder / (std::string{"moved.db"} + end));
        }
        if (replaced) { write(folder / "runners.db", ""); }
        auto const refused = runners.insert({"Boston", 8, "Bob"});
        CHECK(refused.error().code == error_code::store_failed);
        CHECK(refused.error().effect == effect::none);
        ::usleep(50'000); // a reader checks every 20 ms
        CHECK(runners.get("Boston", 7).error().code == error_code::store_failed);
        for (char const* const end : {"", "-wal", "-shm"}) {
            std::filesystem::rename(
                folder / (std::string{"moved.db"} + end), folder / (std::string{"runners.db"} + end));
        }
        CHECK(runners.get("Boston", 7));
        CHECK(runners.insert({"Boston", 8, "Bob"}));
        runners.drop().value();
    }
}

TEST_CASE("bad files: deleting the lock file does not admit two writers") {
    temporary_folder const folder;
    file_backend const store{folder / "runners.db"};
    table<runner> const runners{store, "runners"};
    runners.create().value();
    std::filesystem::remove(folder / "runners.db-lock");
    CHECK(runners.insert({"Boston", 7, "Ann"}));
    CHECK(std::filesystem::exists(folder / "runners.db-lock"));
    int const lock = ::open((folder / "runners.db-lock").c_str(), O_RDWR);
    CHECK(::flock(lock, LOCK_EX | LOCK_NB) == 0);
    ::close(lock);
}

TEST_CASE("bad files: every read of a row with changed bytes returns an error") {
    temporary_folder const folder;
    {
        file_backend const store{folder / "runners.db"};
        table<runner> const runners{store, "runners"};
        runners.create().value();
        runners.insert({"Boston", 7, "Ann"}).value();
        runners.insert({"Boston", 8, "Bob"}).value();
    }
    run_sql_with_checksums(folder / "runners.db",
        "UPDATE entitable_row SET value = substr(value, 1, 20) || CASE substr(value, 21, 1) WHEN X'00' THEN X'01' ELSE "
        "X'00' "
        "END || substr(value, 22) WHERE row_key = X'30303030303030303037'");
    file_backend const store{folder / "runners.db"};
    table<runner> const runners{store, "runners"};
    auto const got = runners.get("Boston", 7);
    CHECK(got.error().code == error_code::store_corrupt);
    CHECK(got.error().message.find("Boston") == std::string::npos);
    CHECK(got.error().detail.find("Boston") != std::string::npos);
    CHECK(runners.scan_table().to().error().code == error_code::store_corrupt);
    CHECK(runners.scan_table().count().value() == 2); // reads keys, whose pages have checksums, and no values
    CHECK(runners.insert_or_replace({"Boston", 7, "Ann"}).error().code == error_code::store_corrupt);
    CHECK(runners.insert({"Boston", 9, "Eve"}));
    auto const report = store.verify();
    REQUIRE(report);
    CHECK_FALSE(report->sound());
    CHECK(report->damaged >= 1);
}

TEST_CASE("bad files: a row with changed bytes does not affect earlier pages") {
    temporary_folder const folder;
    file_options options;
    options.local.page_bytes = 2000; // four rows
    {
        file_backend const store{folder / "runners.db", options};
        table<runner> const runners{store, "runners"};
        runners.create().value();
        for (std::int32_t bib = 1; bib <= 20; ++bib) { runners.insert({"Boston", bib, std::string(500, 'n')}).value(); }
    }
    run_sql_with_checksums(folder / "runners.db",
        "UPDATE entitable_row SET value = substr(value, 1, 20) || X'00' || substr(value, 22) "
        "WHERE row_key = X'30303030303030303131'");
    file_backend const store{folder / "runners.db", options};
    table<runner> const runners{store, "runners"};
    for (auto const& all : {runners.where(fields<runner>::race == "Boston"),
             runners.where(fields<runner>::race == "Boston").in_flight(2)}) {
        std::int32_t seen = 0;
        auto const look = [&](runner const& each) { CHECK(each.bib == ++seen); };
        CHECK(all.for_each(look).error().code == error_code::store_corrupt);
        CHECK(seen == 8);
    }
    CHECK(runners.where(fields<runner>::race == "Boston").take(8).count().value() == 8);
    CHECK(runners.where(fields<runner>::race == "Boston" && fields<runner>::bib <= 9).count().value() == 9);
}
