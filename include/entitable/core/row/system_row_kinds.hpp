// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The kinds of system rows, and how a copy of a table treats them: see `system_rows.hpp`. A header of its own, because only copies need it.

#include <entitable/core/row/system_rows.hpp>

#include <cstdint>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace system_row {

/// How a copy of a table treats system rows of one kind.
enum class copying : std::uint8_t {
    taken_along, ///< the rows are copied: they are data
    left_behind, ///< the rows are not copied: they belong to a write, a load, a move or a writer of the source
    refused,     ///< the copy ends with NotSupported: it would be incomplete without these rows, and wrong with them
};

/// One kind of system row.
struct kind {
    std::string_view prefix;     ///< prefix of the row keys
    std::string_view says;       ///< meaning of such a row
    std::string_view written_by; ///< header of the writer
    copying copied;              ///< rule for a copy of unchanged rows
    copying changed;             ///< rule for a copy that changes rows or keys
    bool owns_table;             ///< whether queries find nothing in a table that contains such rows
    std::string_view holds;      ///< content of a table with such rows, for messages
    std::string_view keeper;     ///< reader and writer, for messages
};

/// All kinds. Moves and backups of fleets copy all system rows except those of moves.
inline constexpr kind kinds[] = {
    {operation, "a write was applied, or never will be", "entitable/core/request/operation_row.hpp",
        copying::left_behind, copying::left_behind, false, "records of writes", "retrying"},
    {exclusive, "the version of the partition, for exclusive transactions", "entitable/client/transaction.hpp",
        copying::left_behind, copying::left_behind, false, "versions of partitions", "transact"},
    {bulk, "progress of a bulk load", "entitable/core/load/bulk_checkpoint.hpp", copying::left_behind,
        copying::left_behind, false, "checkpoints", "row_checkpoint"},
    {intent, "the effect of an entity's change on rows in other partitions",
        "entitable/client/companions/index/intent.hpp", copying::left_behind, copying::left_behind, false,
        "intents of writers", "a table with its indexes"},
    {index, "whether an index is maintained and used", "entitable/client/companions/several_types.hpp",
        copying::taken_along, copying::left_behind, false, "states of indexes and sums",
        "a table with its indexes and sums"},
    {sum, "the part of a row of sums that comes from archived entities", "entitable/tables.hpp", copying::taken_along,
        copying::refused, false, "sums of archived entities", "a table with its sums"},
    {wide, "some of the properties of a wide entity", "entitable/client/wide/wide_table.hpp", copying::taken_along,
        copying::refused, false, "wide entities", "table<wide<E>>"},
    {queue, "how many lanes a queue has", "entitable/work/messaging/table_queue.hpp", copying::taken_along,
        copying::refused, true, "a queue", "table_queue"},
    {message, "a message of a queue, and the worker that has claimed it", "entitable/work/messaging/table_queue.hpp",
        copying::taken_along, copying::refused, true, "a queue", "table_queue"},
    {identity, "a message was enqueued, and may be completed", "entitable/work/messaging/table_queue.hpp",
        copying::taken_along, copying::refused, true, "a queue", "table_queue"},
    {dead_letter, "a message that was claimed too often", "entitable/work/messaging/table_queue.hpp",
        copying::taken_along, copying::refused, true, "a queue", "table_queue"},
    {outbox, "a message to be put into its queue", "entitable/work/messaging/table_queue.hpp", copying::taken_along,
        copying::refused, false, "messages of an outbox", "table_queue::relay"},
    {view, "a generation of a view, current or not", "entitable/bulk/views/materialized_view.hpp", copying::refused,
        copying::refused, true, "the generations of a view, which are tables of this store",
        "materialized_view::refresh"},
    {migrated, "no row has the former name or type of a member", "entitable/schema.hpp", copying::taken_along,
        copying::left_behind, false, "marks of migrations", "migrate"},
    {policies, "the stored access policies of a served table", "entitable/server.hpp", copying::left_behind,
        copying::left_behind, false, "access policies", "table_server"},
    {copy, "the number of the last batch that a move wrote in the partition", "entitable/shards/move/shard_move.hpp",
        copying::left_behind, copying::left_behind, false, "marks of moves", "move_plan"},
    {base, "the content that both sides of a synchronisation had last", "entitable/sync.hpp", copying::taken_along,
        copying::left_behind, false, "bases of a synchronisation", "synchronize"},
    {synced, "the state of a synchronisation, or the receipt of a push", "entitable/sync.hpp", copying::taken_along,
        copying::left_behind, false, "states of a synchronisation", "synchronize"},
    {log, "a change of the partition, or the number of the last one", "entitable/changes.hpp", copying::taken_along,
        copying::left_behind, false, "a change log", "a table with logged"},
    {feed, "an announced change, or a group that follows the changes", "entitable/feed.hpp", copying::refused,
        copying::refused, true, "the groups of a feed, whose positions belong to the source", "feed"},
    {fed, "the changes of a source up to a position are in the partition", "entitable/feed.hpp", copying::taken_along,
        copying::left_behind, false, "positions in the changes of another table", "feed"},
};

/// Row keys with the reserved prefix that this version does not know, because a newer version made them. No copy handles them.
inline constexpr kind unknown{prefix, "a kind of a newer version", "", copying::refused, copying::refused, false,
    "system rows that this version of the library does not know", "a newer version"};

/// Returns the kind of a row with this row key; null for a row of an entity.
[[nodiscard]] constexpr kind const* kind_of(std::string_view row_key) noexcept {
    if (!is_one(row_key)) { return nullptr; }
    for (kind const& each : kinds) {
        if (row_key.starts_with(each.prefix)) { return &each; }
    }
    return &unknown;
}

/// Whether each kind has its own prefix below the reserved one, and no prefix is a prefix of another prefix.
[[nodiscard]] constexpr bool are_told_apart() noexcept {
    for (kind const& one : kinds) {
        for (kind const& other : kinds) {
            if (!is_one(one.prefix) || !one.prefix.ends_with('!') ||
                (&one != &other && one.prefix.starts_with(other.prefix))) {
                return false;
            }
        }
    }
    return true;
}
static_assert(are_told_apart());

} // namespace system_row
ENTITABLE_END_NAMESPACE
