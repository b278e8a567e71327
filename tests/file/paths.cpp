// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// One file has one log and one lock, regardless of the path by which it is opened; paths that could lead to two of them are refused.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>

#include <fcntl.h>
#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/held_lock.hpp>
#include <support/tally.hpp>
#include <support/temporary_folder.hpp>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

void make_file(std::string const& path) { table<mark>{file_backend{path}, "marks"}.create().value(); }

file_options following() {
    file_options options;
    options.allow_symlink = true;
    options.busy_timeout = 50ms;
    return options;
}

/// Restores the current directory, which some tests change.
struct same_directory {
    fs::path before = fs::current_path();
    ~same_directory() { fs::current_path(before); }
};

std::size_t files_in(temporary_folder const& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator{folder.path()}, fs::directory_iterator{}));
}

} // namespace

TEST_CASE("paths: a file with a hard link is refused under both names, in each process") {
    temporary_folder const folder;
    make_file(folder / "a.db");
    fs::create_hard_link(folder / "a.db", folder / "b.db");
    for (char const* const name : {"a.db", "b.db"}) {
        child_process child{[&] {
            auto const opened = file_backend::open(folder / name);
            return !opened && opened.error().code == error_code::store_failed &&
                opened.error().effect == effect::none && opened.error().detail.find(folder / name) != std::string::npos;
        }};
        CHECK(child.succeeds());
    }
    fs::remove(folder / "b.db");
    file_backend const store{folder / "a.db"};
    table<mark> const marks{store, "marks"};
    CHECK(write_batch(marks, "w", 0));

    // A link that is created while the file is open.
    fs::create_hard_link(folder / "a.db", folder / "b.db");
    auto const refused = write_batch(marks, "w", 1);
    CHECK(refused.error().code == error_code::store_failed);
    CHECK(refused.error().effect == effect::none);
    CHECK(refused.error().detail.find(folder / "a.db") != std::string::npos);
    ::usleep(50'000); // a reader checks every 20 ms
    CHECK(marks.get("w", 0, 0).error().code == error_code::store_failed);
    CHECK(store.checkpoint().error().code == error_code::store_failed);
    CHECK(store.verify().error().code == error_code::store_failed);
    fs::remove(folder / "b.db");
    CHECK(write_batch(marks, "w", 1));
    CHECK(marks.get("w", 0, 0));
    CHECK(store.verify().value().rows == 20);
}

TEST_CASE("paths: through a symbolic link the same lock is held and the same log is written") {
    temporary_folder const folder;
    make_file(folder / "a.db");
    fs::create_symlink("a.db", folder / "b.db");
    file_backend const by_link{folder / "b.db", following()};
    table<mark> const marks{by_link, "marks"};
    {
        held_lock const other{folder / "a.db"};
        CHECK(write_batch(marks, "w", 0).error().code == error_code::store_busy);
        CHECK(by_link.checkpoint().error().code == error_code::store_busy);
    }
    CHECK(write_batch(marks, "w", 0));
    CHECK(fs::exists(folder / "a.db-wal"));
    CHECK_FALSE(fs::exists(folder / "b.db-wal"));
    CHECK_FALSE(fs::exists(folder / "b.db-lock"));

    // The link is redirected while the store is open: the open store keeps its file.
    make_file(folder / "c.db");
    fs::remove(folder / "b.db");
    fs::create_symlink("c.db", folder / "b.db");
    CHECK(write_batch(marks, "w", 1));
    CHECK(table<mark>{file_backend{folder / "a.db"}, "marks"}.scan_table().count().value() == 20);
    CHECK(table<mark>{file_backend{folder / "c.db"}, "marks"}.scan_table().count().value() == 0);
}

TEST_CASE("paths: a folder that is a symbolic link is resolved only once") {
    temporary_folder const folder;
    fs::create_directory(folder / "one");
    fs::create_directory(folder / "two");
    fs::create_directory_symlink("one", folder / "link");
    file_backend const store{folder / "link/a.db"};
    table<mark> const marks{store, "marks"};
    marks.create().value();
    CHECK(fs::exists(folder / "one/a.db-lock"));
    fs::remove(folder / "link");
    fs::create_directory_symlink("two", folder / "link");
    CHECK(write_batch(marks, "w", 0));
    ::usleep(30'000);
    CHECK(marks.get("w", 0, 0));
    CHECK(fs::is_empty(folder / "two"));
}

TEST_CASE("paths: a relative path means the same file after the program changed its directory") {
    temporary_folder const folder;
    same_directory const back;
    fs::current_path(folder.path());
    fs::create_directory("below");
    file_backend const store{"below/../marks.db"};
    table<mark> const marks{store, "marks"};
    marks.create().value();
    fs::current_path("/");
    CHECK(write_batch(marks, "w", 0));
    ::usleep(30'000);
    CHECK(marks.get("w", 0, 0));
    CHECK(store.verify().value().rows == 10);
    CHECK(store.checkpoint());
    CHECK(fs::exists(folder / "marks.db-lock"));
    CHECK(files_in(folder) == 5); // the file, its log, its lock, its shared memory, and the folder
}

TEST_CASE("paths: names that the system gives to open files work") {
    temporary_folder const folder;
    make_file(folder / "a.db");
    int const handle = ::open((folder / "a.db").c_str(), O_RDONLY | O_CLOEXEC);
    std::string const name = "/proc/self/fd/" + std::to_string(handle);
    if (!fs::exists(name)) {
        return; // another operating system
    }
    CHECK(file_backend::open(name).error().code == error_code::store_failed);
    {
        file_backend const store{name, following()};
        held_lock const other{folder / "a.db"};
        CHECK(write_batch(table<mark>{store, "marks"}, "w", 0).error().code == error_code::store_busy);
    }
    fs::remove(folder / "a.db");
    CHECK(file_backend::open(name, following()).error().code == error_code::store_failed);
    ::close(handle);
}
