// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Files damaged by a disk or a person: bits, pages, lengths, logs of another time or of another file. An answer that
// differs from the written data is an error, or `verify` reports it; nothing crashes or hangs.

#include <entitable/file.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/memory_disk.hpp>
#include <support/tally.hpp>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <array>
#include <optional>

using namespace entitable;
using namespace entitable_test;

namespace {

constexpr std::int32_t batches = 40;

class damaged_files {
public:
    damaged_files() {
        options_.vfs = memory_disk::name;
        options_.busy_timeout = std::chrono::milliseconds{0};
        {
            memory_disk disk;
            {
                file_backend const store{path_, options_};
                table<mark> const marks{store, "marks"};
                marks.create().value();
                for (std::int32_t batch = 0; batch < batches; ++batch) {
                    write_batch(marks, "w", batch).value();
                    if (batch == batches / 2) {
                        hot_early_ = disk.seen(); // including its log
                    }
                }
                hot_ = disk.seen();
            }
            whole_ = disk.seen(); // the log is in the file
        }
        {
            memory_disk disk;
            file_backend const store{path_, options_};
            table<mark> const marks{store, "marks"};
            marks.create().value();
            write_batch(marks, "another", 1).value();
            other_ = disk.seen();
        }
    }

    enum class verdict : std::uint8_t { harmless, detected, silent, earlier };

    /// Reads all data.
    verdict read(memory_disk::image const& image) {
        memory_disk disk{image};
        auto store = file_backend::open(path_, options_);
        if (!store) { return verdict::detected; }
        table<mark> const marks{*store, "marks"};
        bool error = false;
        bool different = false;
        std::size_t rows = 0;
        auto const scanned = marks.scan_table().for_each([&](mark const& each) {
            different = different || each.text != make_mark(each.writer, each.batch, each.row).text;
            ++rows;
        });
        auto const counts = counted(marks);
        error = !scanned || !counts[0] || !counts[1];
        different = different || (counts[0] && *counts[0] != all_rows) || (counts[1] && *counts[1] != all_rows);
        different = different || (scanned && rows != static_cast<std::size_t>(batches * rows_of_batch));
        for (std::int32_t batch = 0; batch < batches; batch += 3) {
            auto const got = marks.get("w", batch, batch % rows_of_batch);
            bool const missing = !got && got.error().code == error_code::resource_not_found;
            error = error || (!got && !missing);
            different = different || missing || (got && got->text != make_mark("w", batch, batch % rows_of_batch).text);
        }
        if (error) { return verdict::detected; }
        if (!different) { return verdict::harmless; }
        tally first_batches; // the state after an earlier commit
        for (std::size_t batch = 0; batch < rows / rows_of_batch; ++batch) {
            first_batches.note("w", static_cast<std::int32_t>(batch), batch_fate::kept);
        }
        auto const report = store->verify();
        if (report && report->sound() && first_batches.check(marks).empty()) { return verdict::earlier; }
        return !report || !report->sound() ? verdict::detected : verdict::silent;
    }

    static constexpr std::uint64_t all_rows = std::uint64_t{batches} * rows_of_batch;
    /// The number of rows of the table, and of its only partition.
    static std::array<result<std::uint64_t>, 2> counted(table<mark> const& marks) {
        return {marks.scan_table().count(), marks.where(fields<mark>::writer == "w").count()};
    }

    struct answers {
        bool error{};          ///< somewhere
        bool get_error{};      ///< a point read failed
        bool all_rows{true};   ///< the scan ended without an error and was complete
        bool all_gets{true};   ///< the point reads were complete as well
        bool count_error{};    ///< a count failed
        bool all_counts{true}; ///< the counts without an error were complete
        bool wrong{};          ///< a value that differs from the written one
    };
    /// Reads all data, without calling `verify`.
    answers read_strictly(memory_disk::image const& image) {
        memory_disk disk{image};
        answers found;
        auto store = file_backend::open(path_, options_);
        if (!store) {
            found.error = found.get_error = true;
            return found;
        }
        table<mark> const marks{*store, "marks"};
        std::size_t rows = 0;
        auto const scanned = marks.scan_table().for_each([&](mark const& each) {
            found.wrong = found.wrong || each.text != make_mark(each.writer, each.batch, each.row).text;
            ++rows;
        });
        found.error = !scanned;
        for (auto const& number : counted(marks)) {
            found.count_error = found.count_error || !number;
            found.all_counts = found.all_counts && (!number || *number == all_rows);
        }
        found.all_rows = !scanned || rows == static_cast<std::size_t>(batches * rows_of_batch);
        for (std::int32_t batch = 0; batch < batches; ++batch) {
            auto const got = marks.get("w", batch, batch % rows_of_batch);
            bool const missing = !got && got.error().code == error_code::resource_not_found;
            found.get_error = found.get_error || (!got && !missing);
            found.all_gets = found.all_gets && !missing;
            found.wrong = found.wrong || (got && got->text != make_mark("w", batch, batch % rows_of_batch).text);
        }
        found.error = found.error || found.get_error || found.count_error;
        return found;
    }

    memory_disk::image const& whole() const { return whole_; }
    memory_disk::image const& hot() const { return hot_; }
    memory_disk::image const& hot_early() const { return hot_early_; }
    memory_disk::image const& other() const { return other_; }
    std::string const& path() const { return path_; }
    file_options const& options() const { return options_; }

private:
    temporary_folder const folder_;
    std::string const path_{folder_ / "marks.db"};
    file_options options_;
    memory_disk::image whole_;
    memory_disk::image hot_;
    memory_disk::image hot_early_;
    memory_disk::image other_;
};

} // namespace

TEST_CASE("damaged files: an answer is correct or an error") {
    damaged_files files;
    REQUIRE(files.read(files.whole()) == damaged_files::verdict::harmless);
    REQUIRE(files.read(files.hot()) == damaged_files::verdict::harmless);
    std::mt19937_64 random{1};
    std::size_t counts[4] = {};
    std::size_t earlier_from_file = 0;
    std::string first_silent;
    std::size_t const flips = rounds(200, 100'000, 2'000);
    for (std::size_t round = 0; round < flips; ++round) {
        bool const in_log = round % 4 == 3;
        auto image = in_log ? files.hot() : files.whole();
        std::string& bytes = image[in_log ? files.path() + "-wal" : files.path()];
        std::size_t const page = 8192 * (random() % (bytes.size() / 8192));
        std::string what;
        switch (round % 8 == 7 ? 4 : round % 16) {
            case 0:
                bytes.resize(random() % bytes.size());
                what = "cut";
                break;
            case 1:
                std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(page), 8192, '\0');
                what = "zeroed page";
                break;
            case 2: {
                std::size_t const other = 8192 * (random() % (bytes.size() / 8192));
                std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(page),
                    bytes.begin() + static_cast<std::ptrdiff_t>(page + 8192),
                    bytes.begin() + static_cast<std::ptrdiff_t>(other));
                what = "swapped pages";
                break;
            }
            default: {
                std::size_t const bit = random() % (bytes.size() * 8);
                bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
                what = "bit " + std::to_string(bit);
                break;
            }
        }
        auto const found = files.read(image);
        ++counts[static_cast<std::size_t>(found)];
        earlier_from_file += !in_log && found == damaged_files::verdict::earlier ? 1U : 0U;
        if (found == damaged_files::verdict::silent && first_silent.empty()) {
            first_silent = (in_log ? "log, " : "file, ") + what;
        }
    }
    double const changed = static_cast<double>(counts[1] + counts[2]);
    std::printf("damaged files: %zu runs, %zu harmless, %zu detected, %zu silent: %.3f %% of the changed answers; %zu "
                "logs that "
                "end early\n",
        flips, counts[0], counts[1], counts[2], 100.0 * static_cast<double>(counts[1]) / changed, counts[3]);
    CAPTURE(first_silent);
    CHECK(counts[2] == 0);
    CHECK(counts[1] > flips / 3);
    // SQLite treats the first damaged frame of a log as its end: checkpointed data is not affected, and the rest is the state
    // after an earlier commit.
    CHECK(earlier_from_file == 0);
}

TEST_CASE(
    "damaged pages: a scan, a count or a point read that reaches a damaged page fails and never returns fewer rows") {
    damaged_files files;
    std::mt19937_64 random{2};
    std::size_t const pages = files.whole().at(files.path()).size() / 8192;
    std::size_t errors = 0;
    std::size_t harmless = 0;
    std::size_t short_scans = 0;
    std::size_t absent_rows = 0;
    std::size_t short_counts = 0;
    std::size_t wrong_values = 0;
    std::string first;
    std::size_t const damages = rounds(60, 100'000, 1'500);
    for (std::size_t round = 0; round < damages; ++round) {
        auto image = files.whole();
        char* const bytes = image[files.path()].data();
        std::size_t const page = random() % pages;
        char* const at = bytes + page * 8192;
        char const* what = "bits";
        switch (round % 6) {
            case 0:
                for (std::size_t left = 1 + random() % 3; left > 0; --left) {
                    std::size_t const bit = random() % (8192 * 8);
                    at[bit / 8] = static_cast<char>(at[bit / 8] ^ (1 << (bit % 8)));
                }
                break;
            case 1:
                what = "16 bytes";
                for (char *each = at + random() % (8192 - 16), *end = each + 16; each != end; ++each) {
                    *each = static_cast<char>(random());
                }
                break;
            case 2:
                what = "zeroed";
                std::fill_n(at, 8192, '\0');
                break;
            case 3:
                what = "copied over";
                std::copy_n(bytes + random() % pages * 8192, 8192, at);
                break;
            case 4: // the number of cells, where they begin, the last child
                what = "header";
                at[(page == 0 ? 100 : 0) + random() % 12] = static_cast<char>(random());
                break;
            default:
                what = "one entry less";
                --at[(page == 0 ? 100 : 0) + 4];
                break;
        }
        if (image == files.whole()) { continue; }
        auto const found = files.read_strictly(image);
        errors += found.error ? 1U : 0U;
        harmless += !found.error && found.all_rows && found.all_gets && found.all_counts && !found.wrong ? 1U : 0U;
        short_scans += !found.error && !found.all_rows ? 1U : 0U;
        absent_rows += !found.get_error && !found.all_gets ? 1U : 0U;
        short_counts += found.all_counts ? 0U : 1U;
        wrong_values += found.wrong ? 1U : 0U;
        if (first.empty() &&
            (found.wrong || !found.all_counts || (!found.error && !found.all_rows) ||
                (!found.get_error && !found.all_gets))) {
            first = std::string{what} + " in page " + std::to_string(page + 1);
        }
    }
    std::printf(
        "damaged pages: %zu files, %zu errors, %zu harmless, %zu scans with fewer rows and no error, %zu rows absent, "
        "%zu counts of fewer rows, %zu wrong values\n",
        damages, errors, harmless, short_scans, absent_rows, short_counts, wrong_values);
    CAPTURE(first);
    CHECK(short_scans == 0);
    CHECK(absent_rows == 0);
    CHECK(short_counts == 0);
    CHECK(wrong_values == 0);
    CHECK(errors > damages / 2);
}

TEST_CASE(
    "damaged files: an older log results in an earlier state, and the log of another file is never accepted silently") {
    damaged_files files;
    std::string const log = files.path() + "-wal";
    auto image = files.whole();
    image[log] = files.hot_early().at(log); // an earlier log of the same file, as if a backup had been restored
    CHECK(files.read(image) == damaged_files::verdict::earlier);
    image = files.whole();
    image[log] = files.other().at(log);
    CHECK(files.read(image) != damaged_files::verdict::silent);
    // Without its log a file lacks the commits that were only there. The remaining file is older and undamaged, so the loss
    // cannot be detected. Therefore a file is copied after `checkpoint`.
    image = files.hot();
    image.erase(log);
    memory_disk disk{image};
    auto const store = file_backend::open(files.path(), files.options());
    CHECK((!store || store->verify()->sound()));
}
