// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Copies one table of a virtual shard to another store while clients write to it: a resumable operation of several passes. Place 0 is the
/// source, place 1 the target.

#include <entitable/core/request/batch_packer.hpp>
#include <entitable/core/request/operation.hpp>
#include <entitable/shards/move/detail/copied_rows.hpp>

#include <deque>
#include <map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The work of one pass over a table.
enum class copy_pass : std::uint8_t {
    whole,    ///< copies every row
    catch_up, ///< reads keys and ETags of the source; copies new and changed rows, removes deleted ones
    verify,   ///< reads the target and compares its content with the rows read from the source
    collect,  ///< reads keys and ETags of the target and compares them with the rows written
};

/// Remembers for each row its ETags at the source and at the target, and a digest of its content: about 150 bytes per row.
///
/// Each batch writes the guard row of its partition, under its ETag, with the batch's number. So a late or repeated batch is refused, and a
/// batch without a response is settled by reading the guard row. One batch is in flight at a time.
class shard_table_copy {
public:
    /// Copies these partitions only, on both sides.
    shard_table_copy(std::string from, std::string to, profile const& target, std::uint32_t page_size = 1000,
        key_interval partitions = {});

    /// Starts a pass; the first must be `whole`.
    void begin(copy_pass pass);

    [[nodiscard]] operation_step next() const noexcept;
    void answer(result<query_entities::response> found, steady_time now);
    void answer(result<transact::response> done, steady_time now);
    void answer(result<get_entity::response> guard, steady_time now);
    void abandon(error const& reason) { outcome_.emplace(failure{reason}); }
    /// Returns the result of the pass. RowMismatch if a row's content differs; ShardMoving if another process writes to the target.
    [[nodiscard]] result<void> finish() { return *std::move(outcome_); }

    [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }       ///< number of copied rows, in all passes
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }     ///< size of the copied rows
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; } ///< changes in the last pass
    [[nodiscard]] std::string const& target() const noexcept { return to_; }

private:
    struct copied_partition {
        copied_rows rows;
        etag guard;
        std::int64_t batch{}; ///< batch number in the guard row; 0: no guard row yet
    };
    struct pending_row {
        etag source;
        std::uint64_t content{};
    };

    [[nodiscard]] copied_row* find(row_view each);
    void take_keys(page const& rows);
    [[nodiscard]] result<void> take_rows(page const& rows);
    [[nodiscard]] result<void> take_target(page const& rows);
    void go_on();
    void remove_the_rest();
    [[nodiscard]] bool send_next();
    void note(std::vector<written>* results);
    void stop(failure why) { outcome_.emplace(std::move(why)); }

    std::string from_;
    std::string to_;
    profile limits_;
    std::map<std::string, copied_partition, std::less<>> partitions_;
    std::map<std::string, copied_partition, std::less<>>::iterator last_{partitions_.end()}; ///< used last

    copy_pass pass_{};
    std::uint32_t number_{}; ///< number of the pass
    query_entities asked_;
    std::deque<key_range> fetches_;       ///< ranges that hold changed rows
    std::optional<query_entities> fetch_; ///< the current one
    bool scanned_{};                      ///< the source has been read to its end
    bool removed_{};                      ///< removals of rows deleted at the source are in the packer
    batch_packer packer_;
    std::vector<pending_row> pending_; ///< rows in the packer, indexed by their tags
    transact batch_;
    std::vector<std::uint64_t> tags_;
    get_entity guard_;
    bool sends_{}; ///< a batch is in flight
    bool settles_{};
    std::int64_t batches_{};
    std::size_t sendings_{};
    steady_time not_before_{(steady_time::min)()};
    std::uint64_t rows_{};
    std::uint64_t bytes_{};
    std::uint64_t changes_{};
    std::uint64_t met_{};
    std::optional<result<void>> outcome_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
