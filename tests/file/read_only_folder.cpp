// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A file in a read-only folder: it is opened for reading if possible, and no answer is wrong when a writer starts. Permissions do not restrict
// the superuser, so the readers here are another user. Run by any other user these tests do nothing.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/local/file/sqlite_store.hpp>

#include <grp.h>
#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/temporary_folder.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

struct note {
    std::string book;
    std::int32_t page{};
    std::string text;
};
ENTITABLE(note, partition_key(book), row_key(page), properties(text))
using n = fields<note>;

file_options with(file_journal journal) {
    file_options options;
    options.journal = journal;
    options.busy_timeout = 100ms;
    return options;
}

/// A process that may change its user can create a reader that permissions restrict.
bool can_be_another() {
    if (::geteuid() == 0) { return true; }
    WARN("skipped: only the superuser can run a reader as another user");
    return false;
}

/// A process of a user without write permission.
template <class Work>
child_process as_other_user(Work work) {
    return child_process{[&] {
        constexpr unsigned nobody = 65534;
        bool const other = ::setgroups(0, nullptr) == 0 && ::setgid(nobody) == 0 && ::setuid(nobody) == 0;
        return other && work();
    }};
}

/// Lets everybody read the contents of the folder.
void show(temporary_folder const& folder) {
    ::chmod(folder.path().c_str(), 0755);
    for (auto const& each : fs::directory_iterator{folder.path()}) { ::chmod(each.path().c_str(), 0644); }
}

std::string write_notes(temporary_folder const& folder, file_journal journal, std::int32_t pages = 20) {
    std::string path = folder / "notes.db";
    {
        table<note> const notes{file_backend{path, with(journal)}, "notes"};
        notes.create().value();
        for (std::int32_t page = 0; page < pages;) {
            auto batch = notes.batch();
            for (int left = 100; left > 0 && page < pages; --left) { batch.insert({"book", page++, "text"}); }
            batch.submit().value();
        }
    }
    show(folder);
    return path;
}

std::set<std::string> names_in(temporary_folder const& folder) {
    std::set<std::string> names;
    for (auto const& each : fs::directory_iterator{folder.path()}) { names.insert(each.path().filename().string()); }
    return names;
}

std::size_t count_of(file_backend const& store) {
    auto const counted = table<note>{store, "notes"}.scan_table().count();
    return counted ? *counted : 0;
}

/// Whether the file is refused with the folder and that file in the message.
bool is_refused(std::string const& path, std::string const& named, std::string const& word) {
    auto const opened = file_backend::open(path, with(file_journal::automatic));
    std::string const message = opened ? "opened" : opened.error().message;
    bool const good = !opened && opened.error().code == error_code::store_read_only &&
        message.find(fs::path{path}.parent_path().string()) != std::string::npos &&
        message.find(named) != std::string::npos && message.find(word) != std::string::npos;
    if (!good) { std::fprintf(stderr, "%s: %s\n", named.c_str(), message.c_str()); }
    return good;
}

struct steps {
    std::atomic<int> reader{0};
    std::atomic<int> writer{0};
};

bool wait_for(std::atomic<int> const& step, int value) {
    for (int left = 5000; left > 0 && step < value; --left) { std::this_thread::sleep_for(1ms); }
    return step >= value;
}

/// Reads all rows at once, and lets a writer try at the first row.
result<lookup> scan_slowly(sqlite_store& store, steps& at, std::size_t& seen) {
    auto const each = [&](std::string_view, std::string_view, std::string_view) {
        if (seen++ == 0) {
            at.reader = 1;
            wait_for(at.writer, 1);
        }
        return true;
    };
    return store.scan("notes", scan_range{}, each);
}

} // namespace

TEST_CASE("read-only folder: a file without writers can be read, with and without its lock file") {
    if (!can_be_another()) { return; }
    for (file_journal const journal : {file_journal::automatic, file_journal::rollback}) {
        for (bool const locked : {true, false}) {
            temporary_folder const folder;
            temporary_folder const elsewhere;
            ::chmod(elsewhere.path().c_str(), 0777);
            std::string const path = write_notes(folder, journal);
            if (!locked) { fs::remove(path + "-lock"); }
            auto const before = names_in(folder);
            CAPTURE(locked, journal == file_journal::rollback);
            auto reading = as_other_user([&] {
                auto const opened = file_backend::open(path, with(journal));
                if (!opened) {
                    std::fprintf(stderr, "%s\n", opened.error().to_string().c_str());
                    return false;
                }
                table<note> const notes{*opened, "notes"};
                auto const refused = notes.insert({"book", 100, "no"});
                auto const dropped = notes.drop();
                bool const cannot_write = !refused && refused.error().code == error_code::store_read_only &&
                    refused.error().effect == effect::none &&
                    refused.error().message.find(folder.path().string()) != std::string::npos && !dropped &&
                    dropped.error().code == error_code::store_read_only;
                auto const copied = opened->copy_to(elsewhere / "copy.db");
                return notes.get("book", 7).value().text == "text" && !notes.get("book", 100) && cannot_write &&
                    count_of(*opened) == 20 && opened->verify().value().sound() && copied &&
                    count_of(file_backend{elsewhere / "copy.db", with(journal)}) == 20;
            });
            CHECK(reading.succeeds());
            CHECK(names_in(folder) == before);
        }
    }
}

TEST_CASE("read-only folder: an unreadable lock file has no effect") {
    if (!can_be_another()) { return; }
    temporary_folder const folder;
    std::string const path = write_notes(folder, file_journal::automatic);
    ::chmod((path + "-lock").c_str(), 0600);
    CHECK(as_other_user([&] { return is_refused(path, "notes.db-lock", "cannot be read"); }).succeeds());
}

TEST_CASE("read-only folder: an empty file is not initialized") {
    if (!can_be_another()) { return; }
    temporary_folder const folder;
    std::string const path = folder / "notes.db";
    std::ofstream{path}.close();
    show(folder);
    CHECK(as_other_user([&] { return is_refused(path, "", "empty"); }).succeeds());
}

TEST_CASE("read-only folder: commits in the log of a killed writer are refused as long as they are not in the file") {
    if (!can_be_another()) { return; }
    temporary_folder const folder;
    std::string const path = write_notes(folder, file_journal::automatic);
    child_process killed{[&] {
        file_backend const store{path, with(file_journal::automatic)};
        bool const written = table<note>{store, "notes"}.insert({"book", 50, "in the log"}).has_value();
        ::_exit(written ? 0 : 1); // without closing it
        return false;
    }};
    CHECK(killed.succeeds());
    show(folder);
    CHECK(as_other_user([&] {
        return is_refused(path, "notes.db-wal", "open it once with write permission");
    }).succeeds());
    ::chmod((path + "-wal").c_str(), 0600);
    CHECK(as_other_user([&] { return is_refused(path, "notes.db-wal", "cannot be read"); }).succeeds());
    CHECK(count_of(file_backend{path, with(file_journal::automatic)}) == 21); // closing also ends the log
    CHECK(as_other_user([&] { return count_of(file_backend{path, with(file_journal::automatic)}) == 21; }).succeeds());
}

TEST_CASE("read-only folder: a journal that needs a rollback is refused") {
    if (!can_be_another()) { return; }
    temporary_folder const folder;
    std::string const path = write_notes(folder, file_journal::rollback);
    std::ofstream{path + "-journal", std::ios::binary} << "\xD9\xD5\x05\xF9\x20\xA1\x63\xD7" << std::string(504, 'x');
    show(folder);
    CHECK(as_other_user([&] { return is_refused(path, "notes.db-journal", "open it once"); }).succeeds());
    std::ofstream{path + "-journal", std::ios::binary} << std::string(512, '\0'); // of an ended transaction
    CHECK(as_other_user([&] { return count_of(file_backend{path, with(file_journal::rollback)}) == 20; }).succeeds());
}

TEST_CASE("read-only folder: a writer before and after the file is opened") {
    if (!can_be_another()) { return; }
    temporary_folder const folder;
    std::string const path = write_notes(folder, file_journal::automatic);
    shared_memory<steps> at;
    auto reading = as_other_user([&] {
        file_backend const store{path, with(file_journal::automatic)};
        table<note> const notes{store, "notes"};
        std::this_thread::sleep_for(3100ms); // until file times differ for later changes, and connections are reused
        bool good = count_of(store) == 20 && count_of(store) == 20;
        at->reader = 1;
        good = good && wait_for(at->writer, 1);
        auto const hidden = notes.get("book", 50); // the row is in the log
        good = good && !hidden && hidden.error().code == error_code::store_read_only &&
            is_refused(path, "notes.db-wal", "has changes");
        at->reader = 2;
        good = good && wait_for(at->writer, 2); // the row is in the file, while the writer has it open
        good = good && notes.get("book", 50).has_value() && count_of(store) == 21;
        at->reader = 3;
        good = good && wait_for(at->writer, 3); // the writer has closed it
        return good && count_of(store) == 22 && !notes.get("book", 0).has_value();
    });
    REQUIRE(wait_for(at->reader, 1));
    {
        file_backend const store{path, with(file_journal::automatic)};
        table<note> const notes{store, "notes"};
        notes.insert({"book", 50, "new"}).value();
        show(folder);
        at->writer = 1;
        CHECK(wait_for(at->reader, 2));
        store.checkpoint().value();
        at->writer = 2;
        CHECK(wait_for(at->reader, 3));
        notes.insert({"book", 51, "new"}).value();
        notes.insert({"book", 52, "new"}).value();
        notes.remove("book", 0, any_etag).value();
    }
    at->writer = 3;
    CHECK(reading.succeeds());
}

TEST_CASE("read-only folder: with the lock file a writer waits for a read in progress") {
    if (!can_be_another()) { return; }
    temporary_folder const folder;
    std::string const path = write_notes(folder, file_journal::automatic, 3000);
    shared_memory<steps> at;
    auto reading = as_other_user([&] {
        auto opened = sqlite_store::open(path, with(file_journal::automatic));
        sqlite_store store{*std::move(opened), with(file_journal::automatic)};
        std::size_t seen = 0;
        auto const read = scan_slowly(store, *at, seen);
        at->reader = 2;
        return read && seen == 3000;
    });
    REQUIRE(wait_for(at->reader, 1));
    {
        table<note> const notes{file_backend{path, with(file_journal::automatic)}, "notes"};
        auto const refused = notes.insert({"book", 5000, "new"});
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == error_code::store_busy);
        at->writer = 1;
        CHECK(wait_for(at->reader, 2));
        CHECK(notes.insert({"book", 5000, "new"}));
    }
    CHECK(reading.succeeds());
}

TEST_CASE("read-only folder: a writer that starts while a file without a lock file is read is detected") {
    if (!can_be_another()) { return; }
    temporary_folder const folder;
    std::string const path = write_notes(folder, file_journal::automatic, 3000);
    fs::remove(path + "-lock");
    shared_memory<steps> at;
    auto reading = as_other_user([&] {
        auto opened = sqlite_store::open(path, with(file_journal::automatic));
        sqlite_store store{*std::move(opened), with(file_journal::automatic)};
        std::size_t seen = 0;
        auto const read = scan_slowly(store, *at, seen);
        bool const told = !read && read.error().code == error_code::store_busy &&
            read.error().message.find(folder.path().string()) != std::string::npos && seen < 3000;
        // From now on the lock file, which only its owner can read, has no effect.
        auto const later = store.get("notes", "book", "0", [](std::string_view) {});
        return told && !later && later.error().code == error_code::store_read_only;
    });
    REQUIRE(wait_for(at->reader, 1));
    {
        file_backend const store{path, with(file_journal::automatic)};
        table<note>{store, "notes"}.insert({"book", 5000, "new"}).value();
        store.checkpoint().value();
        at->writer = 1;
        CHECK(reading.succeeds());
    }
}
