// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// System rows: rows of the library among the rows of an application, in the same table and partition. Their row keys begin with one
/// reserved prefix. Queries, counts and pages skip them; writes of entities refuse such a key (KeyReserved). Transport requests
/// (`query_entities`, `write_entity`) treat them like any other row.
///
/// This header registers them: a new kind needs a line here, which also defines how a copy of the table treats it, a
/// section in docs/stored_formats.md and a behaviour in the conformance suite.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <cstdint>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace system_row {

/// Row keys with this prefix are reserved for the library.
inline constexpr std::string_view prefix = "~!";
/// The smallest text greater than every row key with the prefix.
inline constexpr std::string_view end = "~\"";

/// Operation rows.
inline constexpr std::string_view operation = "~!op!";
/// Row key of the row that exclusive transactions of a partition write.
inline constexpr std::string_view exclusive = "~!tx!";
/// Checkpoints of bulk loads.
inline constexpr std::string_view bulk = "~!bulk!";
/// Intents: the effect of an entity's change on rows in other partitions.
inline constexpr std::string_view intent = "~!ix!";
/// States of indexes, in a partition of that name.
inline constexpr std::string_view index = "~!index!";
/// Archive rows: the part of a row of sums that comes from removed entities.
inline constexpr std::string_view sum = "~!sum!";
/// Parts of wide entities.
inline constexpr std::string_view wide = "~!w!";
/// Queues: state of all lanes, in a partition of that name.
inline constexpr std::string_view queue = "~!queue!";
/// Messages of a queue.
inline constexpr std::string_view message = "~!q!";
/// Identities: a message with that id was put into the queue, and may be completed.
inline constexpr std::string_view identity = "~!id!";
/// Messages that were claimed too often.
inline constexpr std::string_view dead_letter = "~!dead!";
/// Messages stored next to an entity until they are put into their queue.
inline constexpr std::string_view outbox = "~!out!";
/// Materialized views: the generation that is read, and the existing generations; in a partition of that name.
inline constexpr std::string_view view = "~!view!";
/// Members whose former names and types no row has any more, in a partition of that name.
inline constexpr std::string_view migrated = "~!former!";
/// Row key of the row that each batch of a move writes in its partition, at the target.
inline constexpr std::string_view copy = "~!copy!";

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
    {copy, "the number of the last batch that a move wrote in the partition", "entitable/shards/move/shard_move.hpp",
        copying::left_behind, copying::left_behind, false, "marks of moves", "move_plan"},
};

/// Row keys with the reserved prefix that this version does not know, because a newer version made them. No copy handles them.
inline constexpr kind unknown{prefix, "a kind of a newer version", "", copying::refused, copying::refused, false,
    "system rows that this version of the library does not know", "a newer version"};

/// Int32 property in the main row of a wide entity: the number of its parts, which are system rows. Entities cannot have this property.
inline constexpr std::string_view wide_parts = "WideParts";

/// Whether a row with this row key is a system row.
[[nodiscard]] constexpr bool is_one(std::string_view row_key) noexcept {
    return row_key.size() >= 2 && row_key[0] == prefix[0] && row_key[1] == prefix[1];
}

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

#endif
