// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Copies one table of a virtual shard to another store while clients write to it, in several passes. Each pass is a resumable operation.

#include <entitable/core/request/batch_packer.hpp>
#include <entitable/core/request/resumable.hpp>
#include <entitable/core/row/detail/row_digest.hpp>
#include <entitable/shards/move/detail/copied_rows.hpp>

#include <map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The work of one pass over a table.
enum class copy_pass : std::uint8_t {
    whole,    ///< copies every row
    catch_up, ///< reads keys and ETags of the source; copies new and changed rows, removes deleted rows
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

    shard_table_copy(shard_table_copy const&) = delete;
    shard_table_copy& operator=(shard_table_copy const&) = delete;
    ~shard_table_copy() = default;

    /// Runs a pass, between the transports at these places; the first must be `whole`. Only one pass may run at a time, and the object must
    /// outlive the pass. RowMismatch if a row's content differs; ShardMoving if another process writes to the target.
    [[nodiscard]] resumable<void> run(copy_pass pass, std::size_t source, std::size_t target);

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

    /// A batch whose last change is the guard row of its partition.
    struct guarded_batch {
        transact request;
        std::vector<std::uint64_t> rows; ///< indices in `pending_`
        std::string partition_key;
    };
    using partition_map = std::map<std::string, copied_partition, std::less<>>;

    [[nodiscard]] resumable<void> copy(bool whole);
    [[nodiscard]] resumable<void> fetch(key_range range);
    [[nodiscard]] resumable<void> compare(bool with_content);
    [[nodiscard]] resumable<void> send_all();
    [[nodiscard]] resumable<void> send(guarded_batch const& batch);
    [[nodiscard]] resumable<void> settle(guarded_batch const& batch);

    [[nodiscard]] query_entities pages_of(std::string const& table, bool keys_only) const;
    [[nodiscard]] copied_row* find(row_view each);
    [[nodiscard]] std::vector<key_range> changed_ranges(page const& rows);
    [[nodiscard]] result<void> take_rows(page const& rows, bool whole);
    [[nodiscard]] result<void> take_target(page const& rows, bool with_content);
    [[nodiscard]] result<void> remove_the_rest();
    [[nodiscard]] guarded_batch guarded(transact batch, std::vector<std::uint64_t> rows);
    void note(guarded_batch const& batch, std::vector<written>* results, etag guard);

    std::string from_;
    std::string to_;
    key_interval keys_;
    std::uint32_t page_size_;
    batch_packer packer_;
    partition_map partitions_;
    partition_map::iterator last_{partitions_.end()}; ///< used last
    quick_digests digests_;
    std::vector<pending_row> pending_; ///< rows in the packer, indexed by their tags
    std::int64_t batches_{};           ///< number of the latest batch

    std::size_t source_{};   ///< index of the transport, for this pass
    std::size_t target_{};   ///< index of the transport, for this pass
    std::uint32_t number_{}; ///< number of the pass
    std::uint64_t rows_{};
    std::uint64_t bytes_{};
    std::uint64_t changes_{};
    std::uint64_t met_{}; ///< rows of this pass at the target that were written by the copy
};

} // namespace detail
ENTITABLE_END_NAMESPACE
