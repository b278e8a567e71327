// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `local/memory`: a store and its data structure. The parts that every store needs are in `local`.
///
/// `memory_store`: the ordered_store that keeps everything in memory.

#include <entitable/local/memory/detail/partition.hpp>
#include <entitable/local/ordered_store.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Models ordered_store.
///
/// Thread safety: all members may be called from several threads. Each partition has its own lock: a slow visitor or body blocks only the
/// writers of its partition. If a writer waits for such a visitor, other readers of the partition are delayed by some milliseconds.
///
/// Cost: a lookup is a hash of the partition and a search among its rows, O(log n), and allocates nothing.
///
/// Waits: only for visitors and bodies of other calls; the deadline of a call is ignored.
///
/// Errors: none. If memory runs out, std::bad_alloc is thrown. It is propagated, like exceptions thrown by a body or a visitor, and
/// nothing is changed.
class memory_store {
public:
    using is_ordered_store = void;        ///< opts in to `ordered_store`
    using answers_at_once = memory_store; ///< opts in, because the store never waits for long
    class transaction;
    static constexpr server_identity identity{"entitable.memory", {}, 0}; ///< used by observers

    memory_store() = default;
    memory_store(memory_store const&) = delete;
    memory_store& operator=(memory_store const&) = delete;

    /// See `ordered_store`.
    ENTITABLE_LAZY result<bool> create_table(std::string_view key, std::string_view shown_name, call const& = {});
    /// See `ordered_store`.
    ENTITABLE_LAZY result<bool> drop_table(std::string_view key, call const& = {});
    /// See `ordered_store`.
    ENTITABLE_LAZY result<void> tables(std::string_view from_key, table_visitor visit, call const& = {});
    /// See `ordered_store`.
    ENTITABLE_LAZY result<lookup> get(
        std::string_view table, std::string_view partition, std::string_view row, row_visitor visit, call const& = {});
    /// See `ordered_store`.
    ENTITABLE_LAZY result<lookup> scan(
        std::string_view table, scan_range const& range, scan_visitor visit, call const& = {});
    /// See `ordered_store`.
    ENTITABLE_LAZY result<lookup> scan_runs(
        std::string_view table, scan_range const& range, run_visitor visit, call const& = {});
    /// See `ordered_store`.
    ENTITABLE_LAZY result<lookup> update(
        std::string_view table, std::string_view partition, function_ref<bool(transaction&)> body, call const& = {});
    /// See `ordered_store`.
    ENTITABLE_LAZY result<lookup> update_row(std::string_view table, std::string_view partition, std::string_view row,
        row_decision decide, call const& = {});

private:
    class leaving;
    using table_list = std::vector<shared<detail::memory_table>>;

    ENTITABLE_LAZY [[nodiscard]] table_list::iterator table_position(std::string_view key);
    ENTITABLE_LAZY [[nodiscard]] shared<detail::memory_table> find_table(std::string_view key);
    /// Calls `visit(partition, start of its rows)` for the partitions of a range, each under its lock.
    template <class Visit>
    [[nodiscard]] lookup scan_partitions(std::string_view table, scan_range const& range, Visit const& visit);
    /// Returns a partition for an update, made if it is new; empty without the table.
    ENTITABLE_LAZY [[nodiscard]] detail::partition::writing place_of(
        std::string_view table, std::string_view partition);
    /// Enters a partition that got its first row into the directory of its table; false if the table was dropped.
    ENTITABLE_LAZY [[nodiscard]] static bool list(detail::partition& filled);
    ENTITABLE_LAZY [[nodiscard]] static bool commit(transaction& changes);
    ENTITABLE_LAZY void bury(detail::partition& empty) noexcept;

    detail::rw_lock tables_lock_;
    table_list tables_; ///< sorted by key; guarded by tables_lock_
    detail::partition_map partitions_;
};

/// The rows of one partition inside an update.
class memory_store::transaction {
public:
    /// Calls `visit` with the row's bytes; false if the row does not exist.
    ENTITABLE_LAZY bool get(std::string_view row, row_visitor visit) const;
    /// Stages new bytes; they are copied.
    ENTITABLE_LAZY void put(std::string_view row, std::string_view bytes);
    /// Stages a removal; has no effect if the row does not exist.
    ENTITABLE_LAZY void erase(std::string_view row);
    /// Calls `decide` with the row, and changes it at once; the change is undone if the update fails. Readers wait until the update has ended.
    ENTITABLE_LAZY void update_row(std::string_view row, row_decision decide);

    transaction(transaction const&) = delete;
    transaction& operator=(transaction const&) = delete;

private:
    friend class memory_store;

    struct change {
        explicit change(bool removes) noexcept : removal(removes) {}
        detail::entry* fresh{}; ///< the new row, or the key of the row to remove, as a placeholder until the end
        bool removal;
        detail::entry* old{}; ///< the entry that `fresh` replaced
    };

    explicit transaction(detail::partition::writing& place) noexcept : place_(place) {}
    ~transaction();
    [[nodiscard]] detail::entry_tree& rows() const noexcept { return place_->rows; }
    /// Whether an entry is the placeholder of a removal.
    ENTITABLE_LAZY [[nodiscard]] bool is_removed(detail::entry const& stored) const noexcept;
    ENTITABLE_LAZY change& add(bool removal);
    ENTITABLE_LAZY void apply();
    ENTITABLE_LAZY void undo() noexcept;
    ENTITABLE_LAZY void finish() noexcept;

    detail::partition::writing& place_;
    std::vector<change> changes_;
    std::size_t applied_{0}; ///< changes that are in the rows
    detail::entry_tree::position path_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/memory/impl/memory_store.ipp>
#endif
