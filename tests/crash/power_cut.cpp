// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Power losses on a disk in memory: at every write, sync, truncation and removal, with unsynced data lost, written or torn by
// sectors. Afterwards every acknowledged write is there, no transaction is partial, and the file is sound.

#include <entitable/file.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/memory_disk.hpp>
#include <support/tally.hpp>
#include <support/temporary_folder.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

struct findings {
    std::size_t runs{};
    std::size_t lost{};
    std::size_t torn{};
    std::size_t holes{};
    std::size_t damaged{};
    std::string first;
};

class power_cuts {
public:
    power_cuts(file_journal journal, durability durable, bool syncs_are_lies, bool suffix_may_miss)
        : syncs_are_lies_(syncs_are_lies), suffix_may_miss_(suffix_may_miss) {
        options_.vfs = memory_disk::name;
        options_.journal = journal;
        options_.durability = durable;
        options_.checkpoint_bytes = 60'000; // several during the workload
        options_.busy_timeout = std::chrono::milliseconds{0};
    }

    /// Cuts the power at every `step`-th change, in this number of variants.
    findings run(std::uint64_t variants, std::uint64_t step) {
        findings all;
        for (std::uint64_t cut = 0;; cut += step) {
            memory_disk::image image;
            std::vector<memory_disk::image> images;
            tally written;
            bool reached_end = false;
            {
                memory_disk disk;
                disk.syncs_are_lies = syncs_are_lies_;
                disk.cut_at = cut;
                workload(written);
                reached_end = !disk.cut();
                for (std::uint64_t variant = 0; variant < variants; ++variant) {
                    images.push_back(disk.after_power_cut(variant));
                }
            }
            for (memory_disk::image const& each : images) {
                ++all.runs;
                judge(each, written, all);
            }
            if (reached_end) { return all; }
        }
    }

private:
    void workload(tally& written) {
        auto store = file_backend::open(folder_ / "marks.db", options_);
        if (!store) { return; }
        table<mark> const marks{*store, "marks"};
        if (!marks.create()) { return; }
        for (std::int32_t batch = 0; batch < 14; ++batch) {
            written.note("w", batch, write_batch(marks, "w", batch));
            if (batch % 4 == 3) {
                static_cast<void>(marks.remove("single", 0, 0, any_etag));
                static_cast<void>(marks.insert(make_mark("single", 0, 0)));
            }
        }
    }
    void judge(memory_disk::image const& image, tally const& written, findings& all) {
        memory_disk disk{image};
        auto store = file_backend::open(folder_ / "marks.db", options_);
        std::string problem;
        if (!store) {
            problem = "cannot be opened: " + store.error().to_string();
        } else {
            problem = written.check(table<mark>{*store, "marks"}, suffix_may_miss_);
            auto const report = store->verify();
            if (problem.empty() && (!report || !report->sound())) {
                problem = "not sound: " + (report ? report->problems.front() : report.error().to_string());
            }
        }
        if (!problem.empty()) {
            std::size_t& count = problem.starts_with("lost") ? all.lost
                : problem.starts_with("torn")                ? all.torn
                : problem.starts_with("a hole")              ? all.holes
                                                             : all.damaged;
            ++count;
            all.first = all.first.empty() ? problem : all.first;
        }
    }

    temporary_folder const folder_;
    file_options options_;
    bool syncs_are_lies_;
    bool suffix_may_miss_;
};

findings cut_power(char const* name, file_journal journal, durability durable, bool syncs_are_lies = false,
    bool suffix_may_miss = false) {
    auto const found = power_cuts{journal, durable, syncs_are_lies, suffix_may_miss}.run(
        rounds(4, 120, 10), rounds(syncs_are_lies ? 7 : 5, 1, 1));
    std::printf("power cuts, %s: %zu runs, %zu lost, %zu torn, %zu holes, %zu damaged\n", name, found.runs, found.lost,
        found.torn, found.holes, found.damaged);
    return found;
}

} // namespace

TEST_CASE("with a write-ahead log, no acknowledged write is lost in a power failure") {
    auto const found = cut_power("write-ahead log, full", file_journal::write_ahead_log, durability::full);
    CAPTURE(found.first);
    CHECK(found.lost + found.torn + found.holes + found.damaged == 0);
    CHECK(found.runs > 100);
}

TEST_CASE("with a rollback journal, no acknowledged write is lost in a power failure") {
    auto const found = cut_power("rollback journal, full", file_journal::rollback, durability::full);
    CAPTURE(found.first);
    CHECK(found.lost + found.torn + found.holes + found.damaged == 0);
    CHECK(found.runs > 100);
}

TEST_CASE("only with relaxed durability does a power failure lose the last commits") {
    auto const found =
        cut_power("write-ahead log, relaxed", file_journal::write_ahead_log, durability::relaxed, false, true);
    CAPTURE(found.first);
    CHECK(found.lost + found.torn + found.holes + found.damaged == 0);
    CHECK(found.runs > 100);
}

TEST_CASE("power failure: the test detects commits and disks that do not sync") {
    auto const log =
        cut_power("write-ahead log on a disk that lies", file_journal::write_ahead_log, durability::full, true);
    CHECK(log.lost + log.damaged > 0);
    auto const relaxed =
        cut_power("write-ahead log, relaxed, judged as full", file_journal::write_ahead_log, durability::relaxed);
    CHECK(relaxed.lost > 0);
    auto const rollback =
        cut_power("rollback journal on a disk that lies", file_journal::rollback, durability::full, true);
    CHECK(rollback.lost + rollback.damaged > 0);
}
