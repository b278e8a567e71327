// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A copy of an open file: its content, the forbidden targets, the reasons for its end, and the removal of an incomplete
// copy.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/local/file/sqlite_store.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing/contents.hpp>

#include <fcntl.h>
#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/guarded_sql.hpp>
#include <support/long.hpp>
#include <support/memory_disk.hpp>
#include <support/tally.hpp>
#include <support/temporary_folder.hpp>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t page_bytes = detail::file_format::page_bytes;
constexpr auto both_journals = {file_journal::automatic, file_journal::rollback};

file_options with(file_journal journal) {
    file_options options;
    options.journal = journal;
    options.durability = durability::relaxed;
    options.busy_timeout = 50ms;
    return options;
}

/// Rows for several slices of a megabyte each.
void fill(file_backend const& store, std::size_t bytes) {
    (void)store.store().create_table("filling", "filling").value();
    for (std::size_t done = 0; done < bytes;) {
        (void)store.store()
            .update("filling", "p",
                [&](sqlite_store::transaction& rows) {
                    for (int row = 0; row < 20; ++row, done += 25'000) {
                        rows.put(std::to_string(done), std::string(25'000, 'x'));
                    }
                    return true;
                })
            .value();
    }
}

std::string content(std::string const& path) {
    std::ostringstream all;
    all << std::ifstream{path, std::ios::binary}.rdbuf();
    return all.str();
}

/// In place, as a disk would. If the file is open this releases the locks of SQLite, which these tests do not need.
void change_bytes(std::string const& path, std::size_t at, std::string const& to) {
    std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
    file.seekp(static_cast<std::streamoff>(at));
    file << to;
}

std::set<std::string> names_in(fs::path const& folder) {
    std::set<std::string> found;
    for (auto const& each : fs::directory_iterator{folder}) { found.insert(each.path().filename().string()); }
    return found;
}

template <class Result>
error_code code_of(Result const& outcome) {
    CHECK((outcome || outcome.error().effect == effect::none));
    return outcome ? error_code{} : outcome.error().code;
}

} // namespace

TEST_CASE("a copy has the same tables, rows, ETags, journal and profile, and is independent of the original") {
    for (auto const journal : both_journals) {
        for (bool const with_case : {false, true}) {
            temporary_folder const folder;
            file_options options = with(journal);
            options.durability = with_case ? durability::relaxed : durability::full;
            options.local.limits = with_case ? cosmos_profile() : local_profile();
            file_backend const store{folder / "marks.db", options};
            table<mark> const marks{store, "Marks"};
            marks.create().value();
            row_table{store, "empty"}.create().value();
            for (std::int32_t batch = 0; batch < 20; ++batch) { write_batch(marks, "w", batch).value(); }
            row_table{store, "gone"}.create().value();
            row_table{store, "gone"}.drop().value();
            std::string const path = folder / "copy.db";
            auto const done = store.copy_to(path).value();
            struct stat about{};
            REQUIRE(::lstat(path.c_str(), &about) == 0);
            CHECK((about.st_mode & 0777) == 0600);
            CHECK(done.bytes == done.total);
            CHECK(done.total == static_cast<std::uint64_t>(about.st_size));
            CHECK(names_in(folder.path()).size() == (journal == file_journal::automatic ? 5U : 3U));
            std::string const bytes = content(path);
            for (std::size_t page = 0; page < bytes.size() / page_bytes; ++page) {
                char const* const at = bytes.data() + page * page_bytes;
                CHECK(row_format::load<std::uint64_t>(at + page_bytes - 8) == detail::page_hash::of(at, page + 1));
            }

            auto const before = testing::read_contents(store).value();
            write_batch(marks, "w", 100).value();
            options.create = false;
            {
                file_backend const copy{path, options};
                CHECK(copy.verify().value().sound());
                CHECK(copy.verify().value().rows == 200);
                auto const then = testing::read_contents(copy).value();
                CHECK(testing::difference(before, then, testing::shown::versions) == "");
                CHECK(then.tables.size() == 2);
                table<mark> const copied{copy, "Marks"};
                CHECK(copied.get_stored("w", 0, 0).value().etag == marks.get_stored("w", 0, 0).value().etag);
                write_batch(copied, "other", 0).value();
                CHECK(fs::exists(path + "-wal") == (journal == file_journal::automatic));
                write_batch(marks, "w", 101).value();
            }
            CHECK(store.verify().value().rows == 220);
            options.local.limits = with_case ? local_profile() : cosmos_profile();
            CHECK(code_of(file_backend::open(path, options)) == error_code::store_foreign);
        }
    }
}

TEST_CASE("an empty file and a copy can be copied, even while they are open") {
    temporary_folder const folder;
    file_backend const store{folder / "empty.db", with(file_journal::automatic)};
    store.copy_to(folder / "copy.db").value();
    file_backend const copy{folder / "copy.db"};
    table<mark>{copy, "marks"}.create().value();
    write_batch(table<mark>{copy, "marks"}, "w", 0).value();
    copy.copy_to(folder / "second.db").value();
    CHECK(file_backend{folder / "second.db"}.verify().value().rows == 10);
}

TEST_CASE("a copy refuses an existing target and does not change it") {
    temporary_folder const folder;
    fs::create_directory(folder / "sub");
    fs::create_directory_symlink(folder / "sub", folder / "alias");
    file_backend const store{folder / "sub/marks.db"};
    table<mark> const marks{store, "marks"};
    marks.create().value();
    write_batch(marks, "w", 0).value();
    std::ofstream{folder / "there"} << "kept";
    fs::create_hard_link(folder / "there", folder / "second name");
    fs::create_symlink(folder / "nowhere", folder / "dangling");
    fs::create_symlink(folder / "sub/marks.db", folder / "link");
    for (char const* part : {"-wal", "-shm", "-journal"}) { std::ofstream{(folder / "left") + part} << "left"; }
    auto const before = names_in(folder.path());
    auto const inside = names_in(folder / "sub");
    for (char const* name : {"sub/marks.db", "alias/marks.db", "sub/../sub/./marks.db", "there", "second name",
             "dangling", "link", "sub", "alias", "left"}) {
        INFO(name);
        auto const refused = store.copy_to(folder / name);
        CHECK(code_of(refused) == error_code::store_failed);
        std::string const last = fs::path{name}.filename().string();
        CHECK_THAT(refused.error().detail, ContainsSubstring(last));
    }
    for (char const* name : {"sub/marks.db-wal", "sub/marks.db-shm", "sub/marks.db-lock", "sub/marks.db-journal",
             "new-wal", "new-lock", "new-shm", "new-journal", "new.db.0123-copying", "sub/", "sub/.", "new/..", ""}) {
        INFO(name);
        std::string const path = *name == '\0' ? "" : folder / name;
        CHECK(code_of(store.copy_to(path)) == error_code::invalid_input);
    }
    CHECK(code_of(store.copy_to(std::string_view{"a\0b", 3})) == error_code::invalid_input);
    CHECK(code_of(store.copy_to(folder / "no folder/copy.db")) == error_code::store_failed);
    CHECK(code_of(store.copy_to(folder / "there/copy.db")) == error_code::store_failed);
    CHECK(code_of(store.copy_to(folder / std::string(300, 'x'))) == error_code::store_failed);
    CHECK(names_in(folder.path()) == before);
    CHECK(names_in(folder / "sub") == inside);
    CHECK(content(folder / "there") == "kept");
    CHECK(content(folder / "left-wal") == "left");
    CHECK(store.verify().value().rows == 10);

    file_backend moved{folder / "other.db"};
    file_backend const kept = std::move(moved);
    CHECK(code_of(moved.copy_to(folder / "copy.db")) == error_code::invalid_input);
}

TEST_CASE("a copy does not replace a target file that was created in the meantime") {
    temporary_folder const folder;
    file_backend const store{folder / "marks.db"};
    auto const before = names_in(folder.path());
    auto const refused =
        store.copy_to(folder / "copy.db", [&](auto const&) { std::ofstream{folder / "copy.db"} << "mine"; });
    CHECK(code_of(refused) == error_code::store_failed);
    CHECK(content(folder / "copy.db") == "mine");
    CHECK(names_in(folder.path()).size() == before.size() + 1);
}

TEST_CASE("no store opens a file whose name another file uses, or an unfinished copy") {
    temporary_folder const folder;
    file_backend const store{folder / "marks.db"};
    for (char const* name :
        {"marks.db-wal", "marks.db-shm", "marks.db-lock", "marks.db-journal", "copy.db.00-copying"}) {
        CHECK(code_of(file_backend::open(folder / name)) == error_code::invalid_input);
    }
    CHECK(
        names_in(folder.path()) == std::set<std::string>{"marks.db", "marks.db-lock", "marks.db-wal", "marks.db-shm"});
}

TEST_CASE("a copy reports its progress, and an exception from the progress function ends it") {
    for (auto const journal : both_journals) {
        temporary_folder const folder;
        file_backend const store{folder / "marks.db", with(journal)};
        fill(store, 5'000'000);
        auto const before = names_in(folder.path());
        std::uint64_t last = 0;
        std::uint64_t calls = 0;
        auto const done = store
                              .copy_to(folder / "copy.db",
                                  [&](file_copy_progress const& now) {
                                      CHECK(now.bytes > last);
                                      CHECK(now.total >= 5'000'000);
                                      last = now.bytes;
                                      ++calls;
                                  })
                              .value();
        CHECK(last == done.total);
        CHECK(done.restarts == 0);
        CHECK(calls == done.total / (1 << 20) + 1);
        fs::remove(folder / "copy.db");
        CHECK_THROWS_AS(store.copy_to(folder / "copy.db",
                            [](file_copy_progress const& now) {
                                if (now.bytes > 2'000'000) { throw std::runtime_error{"enough"}; }
                            }),
            std::runtime_error);
        CHECK(names_in(folder.path()) == before);
        (void)store.store().create_table("after", "after").value();
    }
}

TEST_CASE("a copy ends with its deadline or cancellation and respects its rate limit") {
    temporary_folder const folder;
    file_backend const store{folder / "marks.db", with(file_journal::automatic)};
    fill(store, 3'000'000);
    auto const before = names_in(folder.path());
    auto const took = [&](error_code expected, file_copy_options const& options, file_copy_progress_callback watch) {
        auto const begun = std::chrono::steady_clock::now();
        auto const outcome = store.copy_to(folder / "copy.db", watch, options);
        CHECK(code_of(outcome) == expected);
        return std::chrono::steady_clock::now() - begun;
    };
    auto const ignore = [](file_copy_progress const&) {};
    CHECK(took(error_code::deadline_exceeded, {.call = {.timeout = 100ms}, .bytes_per_second = 1'000}, ignore) < 2s);
    CHECK(took(error_code::deadline_exceeded, {.call = {.timeout = 0ms}}, ignore) < 2s);
    cancellation_source source;
    auto const stop = [&](file_copy_progress const&) { source.cancel(); };
    CHECK(took(error_code::cancelled, {.call = {.cancellation = source.token()}}, stop) < 2s);
    CHECK(took(error_code::cancelled, {.call = {.cancellation = source.token()}}, ignore) < 2s);
    CHECK(names_in(folder.path()) == before);
    CHECK(took(error_code{}, {.bytes_per_second = 12'000'000}, ignore) > 160ms); // two slices before the last one
}

TEST_CASE("with a write-ahead log a copy is a snapshot of its start, and writers continue") {
    temporary_folder const folder;
    file_backend const store{folder / "marks.db", with(file_journal::automatic)};
    table<mark> const marks{store, "marks"};
    marks.create().value();
    fill(store, 3'000'000);
    write_batch(marks, "w", 0).value();
    std::int32_t batch = 0;
    auto const done = store
                          .copy_to(folder / "copy.db",
                              [&](auto const&) {
                                  write_batch(marks, "w", ++batch).value();
                                  (void)store.checkpoint({.timeout = 1ms});
                              })
                          .value();
    CHECK(done.restarts == 0);
    CHECK(batch > 2);
    file_backend const copy{folder / "copy.db"};
    CHECK(table<mark>{copy, "marks"}.scan_table().count().value() == 10);
    CHECK(copy.verify().value().sound());
    CHECK(marks.scan_table().count().value() == 10U + 10U * static_cast<std::size_t>(batch));
}

TEST_CASE("with a rollback journal, a commit restarts a copy, and after the third restart writers wait") {
    temporary_folder const folder;
    file_backend const store{folder / "marks.db", with(file_journal::rollback)};
    table<mark> const marks{store, "marks"};
    marks.create().value();
    fill(store, 4'000'000);
    tally kept;
    std::int32_t batch = 0;
    std::uint64_t refused = 0;
    auto const done = store
                          .copy_to(folder / "copy.db",
                              [&](file_copy_progress const& now) {
                                  if (now.bytes == now.total) { return; }
                                  auto const written = write_batch(marks, "w", batch);
                                  bool const held = now.restarts >= 3 && !written;
                                  refused += held ? 1U : 0U;
                                  if (!held) {
                                      CHECK(written);
                                      kept.note("w", batch++, batch_fate::kept);
                                  } else {
                                      CHECK(written.error().code == error_code::store_busy);
                                      CHECK(written.error().effect == effect::none);
                                  }
                              })
                          .value();
    CHECK(done.restarts == 4); // the last one when it began to make them wait
    CHECK(refused >= 3);
    file_backend const copy{folder / "copy.db"};
    CHECK(kept.check(table<mark>{copy, "marks"}) == "");
    CHECK(copy.verify().value().sound());
    write_batch(marks, "w", batch).value();
}

TEST_CASE("any damaged page ends a copy with StoreCorrupt, and no partial copy remains") {
    for (auto const journal : both_journals) {
        temporary_folder const folder;
        std::string const path = folder / "marks.db";
        {
            file_backend const store{path, with(journal)};
            table<mark> const marks{store, "marks"};
            marks.create().value();
            fill(store, 100'000);
            write_batch(marks, "w", 0).value();
        }
        std::string const bytes = content(path);
        for (std::size_t page = 1; page < bytes.size() / page_bytes; page += rounds(5, 1)) {
            for (bool const zeros : {false, true}) {
                std::string changed = bytes.substr(page * page_bytes, page_bytes);
                changed = zeros ? std::string(page_bytes, '\0') : changed.replace(page * 100 % 8000, 1, 1, '\x5A');
                change_bytes(path, page * page_bytes, changed);
                auto const store = file_backend::open(path, with(journal));
                auto const refused = store ? store->copy_to(folder / "copy.db") : failure{store.error()};
                CAPTURE(page, zeros);
                CHECK(code_of(refused) == error_code::store_corrupt);
                CHECK_FALSE(fs::exists(folder / "copy.db"));
                CHECK(names_in(folder.path()).size() <= 4);
            }
            change_bytes(path, page * page_bytes, bytes.substr(page * page_bytes, page_bytes));
        }
        CHECK(file_backend{path, with(journal)}.copy_to(folder / "copy.db"));
    }
}

TEST_CASE("a file that was truncated while its log has later commits is not copied") {
    temporary_folder const folder;
    std::string const path = folder / "marks.db";
    file_backend const store{path, with(file_journal::automatic)};
    table<mark> const marks{store, "marks"};
    marks.create().value();
    fill(store, 100'000);
    store.checkpoint().value();
    auto const size = fs::file_size(path); // which a commit may extend with the space it will need
    write_batch(marks, "w", 0).value();
    fs::resize_file(path, size - 2 * page_bytes);
    CHECK(code_of(store.copy_to(folder / "copy.db")) == error_code::store_corrupt);
    CHECK(names_in(folder.path()).size() == 4);
}

TEST_CASE("unused pages that were never written do not count as damage") {
    temporary_folder const folder;
    std::string const path = folder / "marks.db";
    file_backend const store{path, with(file_journal::rollback)};
    run_sql_with_checksums(path,
        "PRAGMA secure_delete = OFF; BEGIN;"
        "INSERT INTO entitable_shape VALUES (1, zeroblob(100000) || 'a'), (2, zeroblob(100000) || 'b'), (3, 'c');"
        "DELETE FROM entitable_shape WHERE id = 1; COMMIT");
    std::string const bytes = content(path);
    std::size_t unwritten = 0;
    for (std::size_t page = 0; page < bytes.size() / page_bytes; ++page) {
        unwritten += bytes.substr(page * page_bytes, page_bytes) == std::string(page_bytes, '\0') ? 1U : 0U;
    }
    CHECK(unwritten > 10);
    store.copy_to(folder / "copy.db").value();
    CHECK(file_backend{folder / "copy.db"}.verify().value().sound());
    CHECK(file_backend{folder / "copy.db"}.copy_to(folder / "second.db"));
}

TEST_CASE("a full disk ends a copy with StoreFull, and no partial copy remains") {
    for (auto const journal : both_journals) {
        temporary_folder const folder;
        {
            memory_disk disk;
            file_options options = with(journal);
            options.vfs = memory_disk::name;
            file_backend const store{folder / "marks.db", options};
            fill(store, 3'000'000);
            auto const before = names_in(folder.path());
            std::uint64_t used = 0;
            for (auto const& [name, bytes] : disk.seen()) { used += bytes.size(); }
            for (std::uint64_t const left : {0ULL, 5'000ULL, 100'000ULL, 2'000'000ULL}) {
                disk.quota = used + left;
                CHECK(code_of(store.copy_to(folder / "copy.db")) == error_code::store_full);
                CHECK(names_in(folder.path()) == before);
            }
            disk.quota = UINT64_MAX;
            (void)store.store().create_table("after", "after").value();
        }
        child_process limited{[&] {
            temporary_folder const other;
            file_backend const store{other / "marks.db", with(journal)};
            fill(store, 3'000'000);
            store.checkpoint().value();
            auto const before = names_in(other.path());
            ::signal(SIGXFSZ, SIG_IGN);
            rlimit const limit{2'000'000, 2'000'000};
            ::setrlimit(RLIMIT_FSIZE, &limit);
            auto const refused = store.copy_to(other / "copy.db");
            return !refused && refused.error().code == error_code::store_full && names_in(other.path()) == before;
        }};
        CHECK(limited.succeeds());
    }
}

TEST_CASE("every failing call to the disk ends a copy with an error, and no partial copy remains") {
    for (auto const journal : both_journals) {
        temporary_folder const folder;
        memory_disk disk;
        file_options options = with(journal);
        options.vfs = memory_disk::name;
        options.durability = durability::full;
        file_backend const store{folder / "marks.db", options};
        fill(store, 100'000);
        auto const before = names_in(folder.path());
        for (int const code : {SQLITE_IOERR, SQLITE_IOERR_FSYNC, SQLITE_FULL, SQLITE_CANTOPEN}) {
            for (std::uint64_t at = 0, missed = 0; missed < 10; at += rounds(31, 1)) {
                disk.faults_hit = 0;
                disk.fault = {disk.calls + at, true, code};
                auto const outcome = store.copy_to(folder / "copy.db");
                disk.fault = {};
                missed += disk.faults_hit == 0 ? 1U : 0U;
                CHECK_FALSE(
                    outcome); // on this disk a file is not visible to the system, so no copy matches the written data
                CHECK(outcome.error().effect == effect::none);
                CHECK(names_in(folder.path()) == before);
            }
        }
        CHECK(store.verify().value().sound());
    }
}

TEST_CASE("a copy does not release the locks that SQLite holds on its file") {
    temporary_folder const folder;
    std::string const path = folder / "marks.db";
    file_backend const store{path};
    table<mark> const marks{store, "marks"};
    marks.create().value();
    write_batch(marks, "w", 0).value();
    auto const locked = [&] {
        child_process other{[&] { // a process is not blocked by its own locks
            int const handle = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
            struct flock asked{};
            asked.l_type = F_WRLCK;
            asked.l_whence = SEEK_SET;
            return ::fcntl(handle, F_GETLK, &asked) == 0 && asked.l_type != F_UNLCK;
        }};
        return other.succeeds();
    };
    CHECK(locked());
    store.copy_to(folder / "copy.db").value();
    CHECK(locked());
    CHECK_FALSE(store.copy_to(folder / "copy.db"));
    CHECK_FALSE(store.copy_to(path));
    CHECK(locked());
    fs::copy_file(path, folder / "read past SQLite.db");
    CHECK_FALSE(locked());
}

TEST_CASE("a child process that is forked during a copy does not affect it") {
    temporary_folder const folder;
    file_backend const store{folder / "marks.db", with(file_journal::automatic)};
    fill(store, 3'000'000);
    pid_t const self = ::getpid();
    bool forked = false;
    auto const outcome = store.copy_to(folder / "copy.db", [&](file_copy_progress const&) {
        if (!std::exchange(forked, true)) {
            std::fflush(nullptr);
            if (pid_t const made = ::fork(); made > 0) {
                int status = -1;
                ::waitpid(made, &status, 0);
                CHECK(status == 0);
            }
        }
    });
    if (::getpid() != self) { ::_exit(!outcome && outcome.error().code == error_code::store_failed ? 0 : 1); }
    CHECK(outcome);
    CHECK(file_backend{folder / "copy.db"}.verify().value().sound());
}
