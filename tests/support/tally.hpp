// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Batches that can be recognised: what the crash tests write, and what must be stored afterwards.

#include <entitable/entitable.hpp>

#include <cstdio>
#include <map>
#include <set>
#include <string>

namespace entitable_test {

/// One row of a batch; its text is derived from its keys. Rows of the writer `single` belong to no batch.
struct mark {
    std::string writer;
    std::int32_t batch{};
    std::int32_t row{};
    std::string text;
};

ENTITABLE(mark, partition_key(writer), row_key(batch, row), properties(text))

inline constexpr std::int32_t rows_of_batch = 10;

inline mark make_mark(std::string const& writer, std::int32_t batch, std::int32_t row) {
    auto const number = static_cast<std::uint32_t>(batch) * 7 + static_cast<std::uint32_t>(row);
    return {writer, batch, row, std::string(40 + number % 60, static_cast<char>('a' + number % 26))};
}

inline auto write_batch(entitable::table<mark> const& marks, std::string const& writer, std::int32_t batch) {
    auto changes = marks.batch();
    for (std::int32_t row = 0; row < rows_of_batch; ++row) { changes.insert(make_mark(writer, batch, row)); }
    return changes.submit();
}

/// The outcome of a batch.
enum class batch_fate : std::uint8_t { kept, refused, unknown };

/// The writer's record, outside the store.
class tally {
public:
    void note(std::string const& writer, std::int32_t batch, batch_fate what) { fates_[{writer, batch}] = what; }
    /// By outcome.
    template <class Result>
    void note(std::string const& writer, std::int32_t batch, Result const& outcome) {
        note(writer, batch,
            outcome                                                 ? batch_fate::kept
                : outcome.error().effect == entitable::effect::none ? batch_fate::refused
                                                                    : batch_fate::unknown);
    }
    [[nodiscard]] std::size_t kept() const {
        std::size_t count = 0;
        for (auto const& [key, what] : fates_) { count += what == batch_fate::kept ? 1U : 0U; }
        return count;
    }
    [[nodiscard]] std::size_t unknown() const {
        std::size_t count = 0;
        for (auto const& [key, what] : fates_) { count += what == batch_fate::unknown ? 1U : 0U; }
        return count;
    }

    /// The error in the table, as text; empty if there is none. Batches that were never recorded may exist completely. With
    /// `suffix_may_miss` the last acknowledged batches may be missing, but none before an existing one.
    [[nodiscard]] std::string check(entitable::table<mark> const& marks, bool suffix_may_miss = false) const {
        std::map<std::pair<std::string, std::int32_t>, std::int32_t> found;
        auto const scanned = marks.scan_table().for_each([&](mark const& each) {
            if (each.writer != "single" && each.text == make_mark(each.writer, each.batch, each.row).text) {
                ++found[{each.writer, each.batch}];
            }
        });
        if (!scanned) {
            // The power may have failed before the table was created.
            bool const no_table = scanned.error().code == entitable::error_code::table_not_found;
            return no_table && (kept() == 0 || suffix_may_miss) ? "" : "cannot be read: " + scanned.error().to_string();
        }
        std::map<std::string, std::int32_t> first_missing;
        for (auto const& [key, rows] : found) {
            if (rows != rows_of_batch) {
                return "torn: batch " + std::to_string(key.second) + " has " + std::to_string(rows) + " rows";
            }
        }
        for (auto const& [key, what] : fates_) {
            bool const there = found.contains(key);
            if (what == batch_fate::kept && !there) {
                if (!suffix_may_miss) { return "lost: batch " + std::to_string(key.second); }
                first_missing.try_emplace(key.first, key.second);
            }
            if (what == batch_fate::refused && there) {
                return "there, but refused: batch " + std::to_string(key.second);
            }
            if (there && first_missing.contains(key.first)) {
                return "a hole before batch " + std::to_string(key.second);
            }
        }
        return {};
    }

private:
    std::map<std::pair<std::string, std::int32_t>, batch_fate> fates_;
};

} // namespace entitable_test
