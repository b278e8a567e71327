// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Erases the keys of a table that no shard uses any more, so that a split frees space: a resumable operation.

#include <entitable/core/request/batch_packer.hpp>
#include <entitable/core/request/operation.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads the first remaining page and erases it, until no rows remain. So it may stop at any point, run twice concurrently and start over.
/// A missing table counts as done. Rows that arrive late stay; no shard reads them.
class shard_table_erasure {
public:
    shard_table_erasure(std::string table, std::vector<key_interval> partitions, std::uint32_t page_size);

    [[nodiscard]] operation_step next() const noexcept;
    void answer(result<query_entities::response> found, steady_time now);
    void answer(result<transact::response> done, steady_time now);
    void abandon(error const& reason) { outcome_.emplace(failure{reason}); }
    [[nodiscard]] result<void> finish() { return *std::move(outcome_); }
    /// Returns the number of rows whose removal was confirmed.
    [[nodiscard]] std::uint64_t erased() const noexcept { return erased_; }

private:
    void ask_next();

    std::vector<key_interval> left_;
    query_entities asked_;
    batch_packer packer_;
    std::optional<transact> batch_;
    steady_time not_before_{(steady_time::min)()};
    std::size_t refusals_{}; ///< consecutive
    std::uint64_t erased_{};
    std::optional<result<void>> outcome_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
