// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Processes are killed while they copy a file: the copy is complete or missing, no store opens its remains, and the file has lost
// nothing.

#include <entitable/file.hpp>
#include <entitable/local/file/sqlite_store.hpp>

#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/long.hpp>
#include <support/tally.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>
#include <filesystem>
#include <random>
#include <thread>

using namespace entitable;
using namespace entitable_test;
namespace fs = std::filesystem;

TEST_CASE(
    "a process that is killed while it copies a file leaves a complete copy or no copy, and does not change the file") {
    std::size_t whole = 0;
    std::size_t cut = 0;
    std::size_t left = 0;
    for (auto const journal : {file_journal::automatic, file_journal::rollback}) {
        temporary_folder const folder;
        std::string const path = folder / "marks.db";
        std::string const copy = folder / "copy.db";
        file_options options;
        options.journal = journal;
        {
            file_backend const store{path, options};
            table<mark>{store, "marks"}.create().value();
            (void)store.store().create_table("filling", "filling").value();
            for (int row = 0; row < 40; ++row) {
                (void)store.store()
                    .update("filling", "p",
                        [&](sqlite_store::transaction& rows) {
                            rows.put(std::to_string(row), std::string(50'000, 'x'));
                            return true;
                        })
                    .value();
            }
        }
        shared_memory<std::atomic<std::int32_t>> const batches;
        std::mt19937_64 random{1};
        for (std::size_t round = 0; round < rounds(5, 300, 20); ++round) {
            std::int32_t const before = *batches;
            child_process copier{[&] {
                file_backend const store{path, options};
                table<mark> const marks{store, "marks"};
                std::thread writing{[&] {
                    for (;; ++*batches) {
                        if (auto const outcome = write_batch(marks, "w", *batches);
                            !outcome && outcome.error().code != error_code::entity_already_exists) {
                            std::_Exit(2);
                        }
                    }
                }};
                while (*batches < before + 2) { ::usleep(100); }
                if (!store.copy_to(copy)) { std::_Exit(3); }
                for (;;) { ::pause(); }
                return false;
            }};
            while (*batches < before + 2) { ::usleep(100); }
            ::usleep(static_cast<useconds_t>(random() % 20'000 * (round % 4)));
            copier.kill();
            for (auto const& each : fs::directory_iterator{folder.path()}) {
                std::string const name = each.path().string();
                if (name.find("-copying") != std::string::npos) {
                    ++left;
                    CHECK(file_backend::open(name).error().code == error_code::invalid_input);
                    fs::remove(name);
                }
            }
            if (fs::exists(copy)) {
                ++whole;
                file_backend const opened{copy, options};
                CHECK(opened.verify().value().sound());
                tally seen;
                for (std::int32_t batch = 0; batch < before; ++batch) { seen.note("w", batch, batch_fate::kept); }
                CHECK(seen.check(table<mark>{opened, "marks"}) == "");
            } else {
                ++cut;
            }
            for (char const* part : {"", "-lock", "-wal", "-shm"}) { fs::remove(copy + part); }
        }
        tally kept;
        for (std::int32_t batch = 0; batch < *batches; ++batch) { kept.note("w", batch, batch_fate::kept); }
        file_backend const store{path, options};
        CHECK(kept.check(table<mark>{store, "marks"}) == "");
        CHECK(store.verify().value().sound());
        CHECK(store.copy_to(copy));
    }
    std::printf(
        "processes killed while they copied: %zu copies whole, %zu not there, %zu files left\n", whole, cut, left);
    CHECK(cut > 0);
}
