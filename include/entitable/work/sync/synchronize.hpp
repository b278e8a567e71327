// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `synchronize`: a local table that works offline, and a table in the cloud.
///
///     auto const report = synchronize(file_notes, cloud_notes, {.partitions = {"ann"}, .conflicts = keep_mine});

#include <entitable/client/contention.hpp>
#include <entitable/client/row_table.hpp>
#include <entitable/client/table.hpp>
#include <entitable/work/sync/detail/synced_table.hpp>
#include <entitable/work/sync/sync_report.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of `synchronize`.
struct sync_options {
    std::vector<std::string> partitions{}; ///< partition keys, as they are stored
    /// All partitions of both tables, which costs a request for each to find them. NotSupported on Cosmos DB, which does not list them.
    bool whole_table{};
    sync_policy conflicts{keep_theirs}; ///< decides rows that both sides have changed
    /// Whether more than half of the rows of a partition of 20 rows or more may be removed at once, on either side. If not, the partition
    /// ends with ManyRemovals: the cloud's table may have been dropped. The same if any row is to be removed here, and the cloud has lost the
    /// receipt of this device: its table was dropped, or is another one.
    bool allow_many_removals{};
    std::uint32_t max_attempts{20};     ///< attempts for one partition that others write, including the first; from 1
    backoff delays{contention_backoff}; ///< delays between attempts
    /// Options of each request; an operation id is refused. Its cancellation ends the call: the partitions that were not synchronised stand in
    /// `sync_report::failed` with Cancelled.
    call_options calls{};
    sync_progress_callback watch{}; ///< called after each transaction that changed rows, and after each partition
    clock* time{&system_clock()};   ///< clock for delays
    std::uint64_t seed{};           ///< seed of delays; 0 for a fresh seed. Names of pushes are always random
};

namespace detail {

[[nodiscard]] result<sync_report> synchronize_tables(
    table_core const& local, table_core const& cloud, sync_options const& options);

} // namespace detail

/// Makes partitions of a local table and of a table in the cloud the same. Both sides may be written while it runs, and several devices may
/// synchronise with one cloud. The two tables must be on different stores, or have different names.
///
/// Each row has a base in the local table, the content that both sides had last: it tells which side has changed or removed the row. So no
/// clock decides, nothing that was removed comes back, and the cloud keeps no marks of removed rows. If both sides have changed a row,
/// the policy decides, and the report has all three contents.
///
/// Guarantees, also if responses are lost, requests are late, or the program ends at any point:
/// - A row in the cloud is replaced only if its content is the base of the local row. Rows of a partition that were changed in one local
///   transaction arrive in one transaction, up to 97 rows (`sync_report::split`).
/// - A row here is replaced only if no local program has changed it since it was compared.
/// - If all changes end and every device synchronises twice, all have the same rows, apart from `sync_report::held`.
/// - A local file that was restored from a backup, or copied to another device, is recognised: `sync_report::restored`.
///
/// Rows travel as they are stored, with properties that the entity does not declare. The bases double the size of the local table.
/// Indexes and sums of the table are maintained on both sides; their rows do not travel. A row is held back if another entity of the other
/// side has its key of a unique index (EntityAlreadyExists), or if the list of the table does not have its type.
/// Not supported: wide entities, queues, sums of archived entities (NotSupported); rows of more than 500,000 bytes or with a row key within 7
/// characters of the limit, which are held back.
///
/// Errors of the call: InvalidInput for options without partitions or with an operation id; NotSupported for transactions of fewer than 4
/// operations in the local store, or 2 in the cloud, for the entities of one type of a table of several types, and for `whole_table` on a store
/// that does not list partitions; those of finding the partitions. Errors of a partition stand in `sync_report::failed`: SyncRunning if another call synchronises the same local partition, ManyRemovals, TableNotFound, those of both
/// stores. A busy store counts as an attempt, after its Retry-After. A row that a store refuses does not: it is held back, and the others
/// go on. The next call continues; a conflict that was decided before the error is in the report.
///
/// Cost in the cloud: one request for each 1,000 rows of a partition, twice if it has several pages and a changed row; one more for each
/// 97 changed rows, fewer with indexes or sums; these need one more for the declaration, and for each row of sums or of a unique index that
/// changes. If the table has a change log (`logged`) and no local row has changed since the last call: one request, and 3 more than
/// changed rows in the cloud, up to 20; the rows of the own last push count as changed once. Local: one read, or two of several pages, and
/// two transactions for each push. Memory: the rows of one partition on both
/// sides, and their bases.
/// Thread safety: safe to call from several threads with different partitions.
template <class... Types>
[[nodiscard]] result<sync_report> synchronize(
    table<Types...> const& local, table<Types...> const& cloud, sync_options const& options) {
    constexpr bool wide = (detail::is_wide<Types> || ...);
    static_assert(!wide, "synchronize does not support wide entities: their rows would not arrive together");
    if constexpr (wide) {
        return sync_report{};
    } else {
        using of = detail::synced_table<Types...>;
        return detail::synchronize_tables(of::core(local), of::core(cloud), options);
    }
}

/// Does the same for rows without a declared entity. Keys of `sync_options::partitions` are partition keys as they are stored. Policies that do not
/// name an entity fit: `keep_theirs`, `keep_mine`, `merge_properties`, or a function over rows.
///
/// A `row_table` declares no indexes, sums or change log, so these are not maintained, and their rows would travel as rows of entities: synchronise a
/// table that has them with its declaration. Wide entities and queues end a partition with NotSupported.
///
/// Errors, cost and thread safety: as above.
[[nodiscard]] inline result<sync_report> synchronize(
    row_table const& local, row_table const& cloud, sync_options const& options) {
    return detail::synchronize_tables(detail::table_core{local.store(), local.name(), local.options()},
        detail::table_core{cloud.store(), cloud.name(), cloud.options()}, options);
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/sync/impl/synchronize.ipp>
#endif
