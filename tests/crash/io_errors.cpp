// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Every call to the disk fails, once and permanently, in each possible way: the outcome of each write is true, and everything works
// again after the fault. Then a full disk.

#include <entitable/file.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/memory_disk.hpp>
#include <support/tally.hpp>
#include <support/temporary_folder.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

using namespace entitable;
using namespace entitable_test;

namespace {

file_options on_memory_disk(file_journal journal) {
    file_options options;
    options.vfs = memory_disk::name;
    options.journal = journal;
    options.checkpoint_bytes = 60'000;
    options.busy_timeout = std::chrono::milliseconds{0};
    return options;
}

struct findings {
    std::size_t runs{};
    std::size_t hit{};
    std::size_t refused{};
    std::size_t unknown{};
    std::string problem;
};

/// Six batches, some of which may fail; every read in between was right or an error.
void workload(file_backend const& store, tally& written, std::int32_t first) {
    table<mark> const marks{store, "marks"};
    if (!marks.create_if_absent()) { return; }
    for (std::int32_t batch = first; batch < first + 6; ++batch) {
        written.note("w", batch, write_batch(marks, "w", batch));
        auto const read = marks.get("w", batch, 3);
        if (read) { CHECK(read->text == make_mark("w", batch, 3).text); }
    }
}

/// One run. False if the fault was no longer reached.
bool run(file_journal journal, disk_fault const& fault, findings& all) {
    temporary_folder const folder;
    memory_disk disk;
    disk.fault = fault;
    tally written;
    auto const options = on_memory_disk(journal);
    auto store = file_backend::open(folder / "marks.db", options);
    if (store) {
        workload(*store, written, 0);
    } else {
        CHECK(store.error().effect == effect::none);
    }
    disk.fault = {};
    bool const hit = disk.faults_hit > 0;
    all.hit += hit ? 1U : 0U;
    ++all.runs;
    auto const again = store ? std::move(store) : file_backend::open(folder / "marks.db", options);
    std::string problem;
    if (!again) {
        problem = "cannot be opened again: " + again.error().to_string();
    } else {
        // The same open backend, whose connections saw the fault, still works.
        tally later = written;
        workload(*again, later, 100);
        problem = later.check(table<mark>{*again, "marks"});
        if (problem.empty() && later.kept() != written.kept() + 6) {
            problem = "does not work again: " + std::to_string(later.kept() - written.kept()) + " of 6 batches";
        }
        auto const report = again->verify();
        if (problem.empty() && (!report || !report->sound())) { problem = "not sound"; }
    }
    if (problem.empty()) { // and so does a later process
        file_backend const fresh{folder / "marks.db", options};
        problem = written.check(table<mark>{fresh, "marks"});
    }
    all.refused += written.kept() + written.unknown() < 6 ? 1U : 0U;
    all.unknown += written.unknown();
    if (!problem.empty() && all.problem.empty()) {
        all.problem = "call " + std::to_string(fault.at) + (fault.lasting ? ", lasting" : ", once") + ", code " +
            std::to_string(fault.code) + ": " + problem;
    }
    return hit;
}

void fail_every_call(char const* name, file_journal journal) {
    findings all;
    for (int const code : {SQLITE_IOERR, SQLITE_IOERR_FSYNC, SQLITE_FULL, SQLITE_BUSY, SQLITE_NOMEM, SQLITE_CANTOPEN}) {
        for (bool const lasting : {false, true}) {
            std::size_t const step = rounds(29, 1, 1);
            std::size_t missed = 0;
            for (std::uint64_t at = 0; missed < 20; at += step) {
                missed = run(journal, {at, lasting, code}, all) ? 0 : missed + 1;
            }
        }
    }
    std::printf("failing calls, %s: %zu runs, %zu hit, in %zu something was refused, %zu commits unknown\n", name,
        all.runs, all.hit, all.refused, all.unknown);
    CAPTURE(all.problem);
    CHECK(all.problem.empty());
    CHECK(all.hit > 40);
    CHECK(all.refused > 8);
    CHECK(all.unknown > 0);
}

} // namespace

TEST_CASE("with a write-ahead log, every call to the disk may fail") {
    fail_every_call("write-ahead log", file_journal::write_ahead_log);
}

TEST_CASE("with a rollback journal, every call to the disk may fail") {
    fail_every_call("rollback journal", file_journal::rollback);
}

TEST_CASE("a full disk: the error code is clear, no acknowledged write is lost, and writes succeed again once there "
          "is room") {
    std::size_t fills = 0;
    for (auto const journal : {file_journal::write_ahead_log, file_journal::rollback}) {
        for (std::size_t round = 0; round < rounds(4, 120, 20); ++round) {
            temporary_folder const folder;
            memory_disk disk;
            tally written;
            file_backend const store{folder / "marks.db", on_memory_disk(journal)};
            table<mark> const marks{store, "marks"};
            marks.create().value();
            disk.quota = 150'000 + round * 3'001;
            std::int32_t batch = 0;
            for (bool full = false; !full; ++batch) {
                auto const outcome = write_batch(marks, "w", batch);
                written.note("w", batch, outcome);
                full = !outcome;
                if (full) { CHECK(outcome.error().code == error_code::store_full); }
                REQUIRE(batch < 1'000);
            }
            ++fills;
            CHECK(written.check(marks).empty());
            disk.quota = 10'000'000;
            for (std::int32_t row = 0; row < rows_of_batch; ++row) { CHECK(marks.remove("w", 0, row, any_etag)); }
            written.note("w", 0, batch_fate::refused);
            written.note("w", 2'000, write_batch(marks, "w", 2'000));
            CHECK(written.check(marks) == "");
            CHECK(written.kept() > 2);
            CHECK(store.verify().value().sound());
        }
    }
    std::printf("full disks: %zu fills\n", fills);
}

TEST_CASE("a limit on file sizes behaves like a full disk") {
    temporary_folder const folder;
    pid_t const child = ::fork();
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        rlimit const limit{400'000, 400'000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        auto store = file_backend::open(folder / "marks.db");
        int code = store ? 0 : 3;
        if (store) {
            table<mark> const marks{*store, "marks"};
            marks.create().value();
            for (std::int32_t batch = 0; code == 0; ++batch) {
                auto const outcome = write_batch(marks, "w", batch);
                code = outcome ? 0 : outcome.error().code == error_code::store_full ? 1 : 2;
            }
            code = marks.get("w", 0, 0) ? code : 4;
        }
        ::_exit(code);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 1);
    CHECK(file_backend{folder / "marks.db"}.verify().value().sound());
}
