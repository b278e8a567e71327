// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The keys of a table that no shard has in it any more are erased, so that a split frees space: a resumable operation.

#include <entitable/request/batch_packer.hpp>
#include <entitable/request/operation.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Asks for the first page that is left and erases it, until there is none: so it may be ended anywhere, be done twice at once and begin anew. A
/// table that is gone is done. Rows that come late stay; nobody asks for them.
class shard_table_erasure {
public:
    shard_table_erasure(std::string table, std::vector<key_interval> partitions, std::uint32_t page_size);

    [[nodiscard]] operation_step next() const noexcept;
    void answer(result<query_entities::response> found, steady_time now);
    void answer(result<transact::response> done, steady_time now);
    void abandon(error const& reason) { outcome_.emplace(failure{reason}); }
    [[nodiscard]] result<void> finish() { return *std::move(outcome_); }
    /// Rows whose removal was answered.
    [[nodiscard]] std::uint64_t erased() const noexcept { return erased_; }

private:
    void ask_next();

    std::vector<key_interval> left_;
    query_entities asked_;
    batch_packer packer_;
    std::optional<transact> batch_;
    steady_time not_before_{(steady_time::min)()};
    std::size_t refusals_{}; ///< one after another
    std::uint64_t erased_{};
    std::optional<result<void>> outcome_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
