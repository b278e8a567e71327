// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Several processes on one file: killed at any time, ended at named points, all writing the same rows, and never committing
// while another process checkpoints the log.

#include <entitable/file.hpp>

#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/long.hpp>
#include <support/tally.hpp>
#include <support/temporary_folder.hpp>
#include <support/watched_vfs.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <optional>
#include <random>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

/// Runs `work` in a process of its own, which ends with it.
template <class Work>
pid_t in_process(Work const& work) {
    std::fflush(nullptr);
    pid_t const child = ::fork();
    if (child == 0) { ::_exit(work() ? 0 : 1); }
    return child;
}
int status_of(pid_t child) {
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}
bool succeeded(pid_t child) {
    int const status = status_of(child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

file_options small_log() {
    file_options options;
    options.checkpoint_bytes = 100'000;
    return options;
}

std::string writer_name(std::size_t number) { return "w" + std::to_string(number); }

} // namespace

TEST_CASE("processes that are killed at any time lose no acknowledged write") {
    constexpr std::size_t writers = 4;
    temporary_folder const folder;
    std::string const path = folder / "marks.db";
    for (auto const journal : {file_journal::automatic, file_journal::rollback}) {
        file_options options = small_log();
        options.journal = journal;
        std::filesystem::remove(path);
        table<mark>{file_backend{path, options}, "marks"}.create().value();
        struct acknowledged {
            std::atomic<std::int32_t> batches[writers];
        };
        shared_memory<acknowledged> const done;
        std::mt19937_64 random{1};
        std::size_t const kills = rounds(40, 5'000, 250);
        std::size_t checks = 0;
        std::string problem;
        for (std::size_t round = 0; round < kills && problem.empty(); ++round) {
            std::vector<pid_t> children;
            for (std::size_t number = 0; number < writers; ++number) {
                children.push_back(in_process([&] {
                    auto const store = file_backend::open(path, options);
                    if (!store) { return false; }
                    table<mark> const marks{*store, "marks"};
                    for (;;) {
                        std::int32_t const batch = done->batches[number];
                        auto const outcome = write_batch(marks, writer_name(number), batch);
                        // Writes that were killed before they were acknowledged may exist.
                        if (!outcome && outcome.error().code != error_code::entity_already_exists) { return false; }
                        done->batches[number] = batch + 1;
                    }
                }));
            }
            ::usleep(static_cast<useconds_t>(5'000 + random() % 40'000));
            for (pid_t const child : children) { ::kill(child, SIGKILL); }
            for (pid_t const child : children) {
                int const status = status_of(child);
                problem = WIFSIGNALED(status) ? problem : "a writer gave up";
            }
            if (round % 10 == 9 || round + 1 == kills) {
                file_backend const store{path, options};
                tally written;
                for (std::size_t number = 0; number < writers; ++number) {
                    for (std::int32_t batch = 0; batch < done->batches[number]; ++batch) {
                        written.note(writer_name(number), batch, batch_fate::kept);
                    }
                }
                auto const wrong = written.check(table<mark>{store, "marks"});
                problem = wrong.empty() ? problem : wrong;
                auto const report = store.verify();
                problem = report && report->sound() ? problem : "not sound";
                ++checks;
            }
        }
        std::int32_t batches = 0;
        for (auto const& each : done->batches) { batches += each; }
        std::printf("kill -9, %s: %zu rounds of %zu writers, %d batches acknowledged, %zu checks: %s\n",
            journal == file_journal::rollback ? "rollback journal" : "write-ahead log", kills, writers, batches, checks,
            problem.empty() ? "nothing lost or torn" : problem.c_str());
        CHECK(problem.empty());
        CHECK(batches > 30);
    }
}

// ---- ends at named points ---------------------------------------------------------------------------

namespace {

struct point {
    char const* name;
    file_journal journal;
    watched_file file;
    bool sync;
    bool done;
};
point const* chosen{};
int times_left{};

void end_there(watched_file file, bool sync, bool done) {
    if (chosen != nullptr && file == chosen->file && sync == chosen->sync && done == chosen->done &&
        --times_left == 0) {
        ::_exit(7);
    }
}

} // namespace

TEST_CASE("a process that ends at a named point leaves a usable file") {
    constexpr auto log = file_journal::automatic;
    constexpr auto rollback = file_journal::rollback;
    static constexpr point points[] = {
        {"before a write of the log", log, watched_file::log, false, false},
        {"behind a write of the log", log, watched_file::log, false, true},
        {"before the commit's sync", log, watched_file::log, true, false},
        {"behind the commit's sync", log, watched_file::log, true, true},
        {"before a checkpoint's write", log, watched_file::main, false, false},
        {"within a checkpoint", log, watched_file::main, false, true},
        {"before a checkpoint's sync", log, watched_file::main, true, false},
        {"behind a checkpoint's sync", log, watched_file::main, true, true},
        {"before a write of the journal", rollback, watched_file::journal, false, false},
        {"behind the journal's sync", rollback, watched_file::journal, true, true},
        {"within the change of the file", rollback, watched_file::main, false, true},
        {"before the file's sync", rollback, watched_file::main, true, false},
        {"behind the file's sync", rollback, watched_file::main, true, true},
    };
    watched_vfs::install(end_there);
    shared_memory<std::atomic<std::int32_t>> const done;
    std::size_t ended = 0;
    for (point const& each : points) {
        std::size_t here = 0;
        std::size_t const tries = rounds(5, 100);
        for (std::size_t time = 1; time <= tries; ++time) {
            temporary_folder const folder;
            file_options options = small_log();
            options.journal = each.journal;
            *done = 0;
            pid_t const child = in_process([&] {
                file_options watched = options;
                watched.vfs = watched_vfs::name;
                chosen = &each;
                times_left = static_cast<int>(time * time);
                auto const store = file_backend::open(folder / "marks.db", watched);
                table<mark> const marks{store.value(), "marks"};
                marks.create_if_absent().value();
                for (std::int32_t batch = 0; batch < 60; ++batch) {
                    write_batch(marks, "w", batch).value();
                    *done = batch + 1;
                }
                return true;
            });
            int const status = status_of(child);
            CAPTURE(each.name, time);
            bool const there = WIFEXITED(status) && WEXITSTATUS(status) == 7;
            CHECK((there || (WIFEXITED(status) && WEXITSTATUS(status) == 0)));
            here += there ? 1U : 0U;
            file_backend const store{folder / "marks.db", options};
            table<mark> const marks{store, "marks"};
            tally written;
            for (std::int32_t batch = 0; batch < *done; ++batch) { written.note("w", batch, batch_fate::kept); }
            CHECK(written.check(marks) == "");
            CHECK(marks.create_if_absent());
            CHECK(write_batch(marks, "w", 1'000));
            CHECK(store.verify().value().sound());
        }
        CAPTURE(each.name);
        CHECK(here > 0);
        ended += here;
    }
    std::printf("ends at %zu named points: %zu ends\n", std::size(points), ended);
}

// ---- commits and checkpoints ------------------------------------------------------------------------

namespace {

/// The processes between the first write of a commit and its sync, and between the first write of a checkpoint and its
/// end.
struct meeting_place {
    std::atomic<pid_t> committing;
    std::atomic<pid_t> checkpointing;
    std::atomic<std::uint64_t> commits;
    std::atomic<std::uint64_t> checkpoints;
    std::atomic<std::uint64_t> met; ///< a commit and a checkpoint of different processes at the same time
};
meeting_place* meeting{};

void watch_meetings(watched_file file, bool sync, bool done) {
    if (meeting == nullptr || (file != watched_file::log && file != watched_file::main)) { return; }
    bool const commit = file == watched_file::log;
    auto& mine = commit ? meeting->committing : meeting->checkpointing;
    auto& other = commit ? meeting->checkpointing : meeting->committing;
    if (!sync && !done) {
        mine = ::getpid();
        pid_t const who = other;
        meeting->met += who != 0 && who != ::getpid() ? 1U : 0U;
    } else if (sync && done) {
        pid_t self = ::getpid();
        if (mine.compare_exchange_strong(self, 0)) { ++(commit ? meeting->commits : meeting->checkpoints); }
    }
}

void end_checkpoint() {
    if (meeting == nullptr) { return; }
    pid_t self = ::getpid();
    meeting->checkpointing.compare_exchange_strong(self, 0);
}

void write_much(std::string const& path, std::string const& writer, std::int32_t batches) {
    file_options options = small_log();
    options.vfs = watched_vfs::name;
    options.busy_timeout = std::chrono::seconds{60};
    file_backend const store{path, options};
    table<mark> const marks{store, "marks"};
    for (std::int32_t batch = 0; batch < batches; ++batch) { write_batch(marks, writer, batch).value(); }
}

} // namespace

TEST_CASE("no process commits while another process checkpoints the log") {
    watched_vfs::install(watch_meetings, end_checkpoint);
    shared_memory<meeting_place> const place;
    meeting = &*place;
    auto const batches = static_cast<std::int32_t>(rounds(120, 20'000));
    temporary_folder const folder;
    std::string const path = folder / "marks.db";
    table<mark>{file_backend{path}, "marks"}.create().value();
    std::vector<pid_t> children;
    for (std::size_t number = 0; number < 4; ++number) {
        children.push_back(in_process([&] {
            write_much(path, writer_name(number), batches);
            return true;
        }));
    }
    for (pid_t const child : children) { CHECK(succeeded(child)); }
    std::printf("commits and checkpoints of 4 processes: %llu commits, %llu checkpoints, met %llu times\n",
        static_cast<unsigned long long>(place->commits), static_cast<unsigned long long>(place->checkpoints),
        static_cast<unsigned long long>(place->met));
    CHECK(place->met == 0);
    CHECK(place->commits > 300);
    CHECK(place->checkpoints > 10);
    tally written;
    for (std::size_t number = 0; number < 4; ++number) {
        for (std::int32_t batch = 0; batch < batches; ++batch) {
            written.note(writer_name(number), batch, batch_fate::kept);
        }
    }
    file_backend const store{path};
    CHECK(written.check(table<mark>{store, "marks"}) == "");
    CHECK(store.verify().value().sound());

    // Detects a program that does not take the lock: SQLite with its own checkpoints.
    place->met = 0;
    children.clear();
    std::string const other = folder / "other.db";
    for (std::size_t number = 0; number < 3; ++number) {
        children.push_back(in_process([&] {
            sqlite3* database = nullptr;
            sqlite3_open_v2(other.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, watched_vfs::name);
            sqlite3_busy_timeout(database, 60'000);
            sqlite3_exec(database,
                "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 10; CREATE TABLE IF NOT EXISTS t (x)", nullptr,
                nullptr, nullptr);
            for (int commit = 0; commit < 2'000 && meeting->met == 0; ++commit) {
                sqlite3_exec(database, "INSERT INTO t VALUES (randomblob(3000))", nullptr, nullptr, nullptr);
            }
            sqlite3_close(database);
            return true;
        }));
    }
    for (pid_t const child : children) { CHECK(succeeded(child)); }
    CHECK(place->met > 0);
    meeting = nullptr;
}

// ---- the same rows ----------------------------------------------------------------------------------

TEST_CASE("four processes with four threads each increment eight rows, and no increment is lost") {
    constexpr std::size_t processes = 4;
    constexpr std::size_t threads = 4;
    constexpr std::int32_t rows = 8;
    temporary_folder const folder;
    std::string const path = folder / "marks.db";
    file_options options;
    options.busy_timeout = std::chrono::seconds{30};
    options.checkpoint_bytes = 400'000;
    options.log_bytes = 4'000'000;
    {
        table<mark> const marks{file_backend{path, options}, "marks"};
        marks.create().value();
        for (std::int32_t row = 0; row < rows; ++row) { marks.insert({"hot", 0, row, "0"}).value(); }
    }
    struct counters {
        std::atomic<std::uint64_t> steps;
        std::atomic<std::uint64_t> conflicts;
        std::atomic<std::uint64_t> failures;
        std::atomic<std::uint64_t> scans;
        std::atomic<bool> stop;
    };
    shared_memory<counters> const seen;
    std::vector<pid_t> children;
    for (std::size_t process = 0; process < processes; ++process) {
        children.push_back(in_process([&] {
            file_backend const store{path, options};
            table<mark> const marks{store, "marks"};
            std::vector<std::thread> running;
            for (std::size_t thread = 0; thread < threads; ++thread) {
                running.emplace_back([&, thread] {
                    std::mt19937_64 random{process * threads + thread};
                    while (!seen->stop) {
                        auto held = marks.get_stored("hot", 0, static_cast<std::int32_t>(random() % rows));
                        if (!held) {
                            ++seen->failures;
                            continue;
                        }
                        held->entity.text = std::to_string(std::stoull(held->entity.text) + 1);
                        auto const stepped = marks.replace(held->entity, held->etag);
                        if (stepped) {
                            ++seen->steps;
                        } else if (stepped.error().code == error_code::update_condition_not_satisfied) {
                            ++seen->conflicts;
                        } else {
                            ++seen->failures;
                        }
                    }
                });
            }
            for (std::thread& each : running) { each.join(); }
            return true;
        }));
    }
    children.push_back(in_process([&] { // a reader that never pauses
        file_backend const store{path, options};
        table<mark> const marks{store, "marks"};
        while (!seen->stop) {
            auto const counted = marks.scan_table().count();
            seen->failures += counted && *counted == static_cast<std::uint64_t>(rows) ? 0U : 1U;
            ++seen->scans;
        }
        return true;
    }));
    std::uintmax_t longest_log = 0;
    for (std::size_t slice = 0; slice < rounds(30, 6'000); ++slice) {
        ::usleep(100'000);
        std::error_code none;
        auto const size = std::filesystem::file_size(path + "-wal", none);
        longest_log = none ? longest_log : std::max(longest_log, size);
    }
    seen->stop = true;
    for (pid_t const child : children) { CHECK(succeeded(child)); }
    table<mark> const marks{file_backend{path, options}, "marks"};
    std::uint64_t sum = 0;
    for (std::int32_t row = 0; row < rows; ++row) { sum += std::stoull(marks.get("hot", 0, row).value().text); }
    std::printf("hot rows: %llu steps, %llu conflicts, %llu failures, %llu scans beside them, log of %.1f MB at most\n",
        static_cast<unsigned long long>(seen->steps), static_cast<unsigned long long>(seen->conflicts),
        static_cast<unsigned long long>(seen->failures), static_cast<unsigned long long>(seen->scans),
        static_cast<double>(longest_log) / 1e6);
    CHECK(sum == seen->steps);
    CHECK(seen->failures == 0);
    CHECK(seen->steps > 100);
    CHECK(seen->scans > 20);
    CHECK(longest_log < 64'000'000);
}
