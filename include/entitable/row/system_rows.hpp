// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// System rows: rows of the library among the rows of an application, in the same table and partition. Their row keys begin with one
/// reserved prefix. Queries, counts and pages leave them out; writes of entities refuse such a key (KeyReserved). Requests
/// at the seam of transports (`query_entities`, `write_entity`) treat them as any other row.
///
/// This header is their register: a new kind has a line here, which also says what a copy of the table does with it, a section in
/// docs/stored_formats.md and a behaviour in the conformance suite.

#include <entitable/core/config.hpp>

#include <cstdint>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace system_row {

/// Row keys with this prefix belong to the library.
inline constexpr std::string_view prefix = "~!";
/// The least text that is greater than every row key with the prefix.
inline constexpr std::string_view end = "~\"";

/// Of operation rows.
inline constexpr std::string_view operation = "~!op!";
/// The row key of the row that exclusive transactions of a partition write.
inline constexpr std::string_view exclusive = "~!tx!";
/// Of checkpoints of bulk loads.
inline constexpr std::string_view bulk = "~!bulk!";
/// Of intents: what a change of an entity does to rows in other partitions.
inline constexpr std::string_view intent = "~!ix!";
/// Of the states of indexes; they stand in a partition of that name.
inline constexpr std::string_view index = "~!index!";
/// Of the parts of wide entities.
inline constexpr std::string_view wide = "~!w!";
/// Of queues: what is true of all lanes; it stands in a partition of that name.
inline constexpr std::string_view queue = "~!queue!";
/// Of messages of a queue.
inline constexpr std::string_view message = "~!q!";
/// Of identities: a message with that id was put into the queue, and may be done.
inline constexpr std::string_view identity = "~!id!";
/// Of messages that were claimed too often.
inline constexpr std::string_view dead_letter = "~!dead!";
/// Of messages that stand beside an entity until they are put into their queue.
inline constexpr std::string_view outbox = "~!out!";
/// Of materialized views: which generation is read, and which there are; they stand in a partition of that name.
inline constexpr std::string_view view = "~!view!";
/// The row key of the row that each batch of a move writes in its partition, at the target.
inline constexpr std::string_view copy = "~!copy!";

/// What a copy of a table does with system rows of one kind.
enum class copying : std::uint8_t {
    taken_along, ///< they are data
    left_behind, ///< they are bound to the source: to a write, a load, a move or a writer there
    refused,     ///< the copy ends with NotSupported: without them it would not be a copy, and with them neither
};

/// One kind of system row.
struct kind {
    std::string_view prefix;     ///< of its row keys
    std::string_view says;       ///< what a row of it says
    std::string_view written_by; ///< the header that makes it
    copying copied;              ///< by a copy of the rows as they are
    copying changed;             ///< by a copy that changes rows or keys
    bool owns_table;             ///< a table that holds such rows holds nothing that queries find
    std::string_view holds;      ///< what a table with such rows holds, for the words of a refusal
    std::string_view keeper;     ///< what reads and writes them
};

/// All kinds. Moves and backups of fleets take all rows along but those of moves.
inline constexpr kind kinds[] = {
    {operation, "a write was applied, or it never will be", "entitable/request/operation_row.hpp", copying::left_behind,
        copying::left_behind, false, "records of writes", "retrying"},
    {exclusive, "its version is that of the partition, for exclusive transactions", "entitable/client/transaction.hpp",
        copying::left_behind, copying::left_behind, false, "versions of partitions", "transact"},
    {bulk, "how far a bulk load is", "entitable/bulk/bulk_checkpoint.hpp", copying::left_behind, copying::left_behind,
        false, "checkpoints", "row_checkpoint"},
    {intent, "what a change of an entity does to rows in other partitions", "entitable/index/intent.hpp",
        copying::left_behind, copying::left_behind, false, "intents of writers", "indexed_table"},
    {index, "whether an index is kept and used", "entitable/index/indexed_table.hpp", copying::taken_along,
        copying::left_behind, false, "states of indexes", "indexed_table"},
    {wide, "some of the properties of a wide entity", "entitable/pattern/wide_table.hpp", copying::taken_along,
        copying::refused, false, "wide entities", "wide_table"},
    {queue, "how many lanes a queue has", "entitable/messaging/table_queue.hpp", copying::taken_along, copying::refused,
        true, "a queue", "table_queue"},
    {message, "work to be done, and who does it", "entitable/messaging/table_queue.hpp", copying::taken_along,
        copying::refused, true, "a queue", "table_queue"},
    {identity, "a message of a queue was enqueued, and maybe is done", "entitable/messaging/table_queue.hpp",
        copying::taken_along, copying::refused, true, "a queue", "table_queue"},
    {dead_letter, "a message that was claimed too often", "entitable/messaging/table_queue.hpp", copying::taken_along,
        copying::refused, true, "a queue", "table_queue"},
    {outbox, "a message that is to be put into its queue", "entitable/messaging/table_queue.hpp", copying::taken_along,
        copying::refused, false, "messages of an outbox", "table_queue::relay"},
    {view, "which generation of a view is read, or that there is one", "entitable/bulk/materialized_view.hpp",
        copying::refused, copying::refused, true, "the generations of a view, which are tables of this store",
        "materialized_view::refresh"},
    {copy, "which batch of a move was the last one in its partition", "entitable/shards/shard_move.hpp",
        copying::left_behind, copying::left_behind, false, "marks of moves", "move_plan"},
};

/// Row keys under the reserved prefix that this version does not know: of a newer one. No copy decides about them.
inline constexpr kind unknown{prefix, "what a newer version knows", "", copying::refused, copying::refused, false,
    "system rows that this version of the library does not know", "a newer version"};

/// Int32, of the main row of a wide entity: how many parts it has, which are system rows. No entity has such a property.
inline constexpr std::string_view wide_parts = "WideParts";

/// Whether a row with this row key is a system row.
[[nodiscard]] constexpr bool is_one(std::string_view row_key) noexcept {
    return row_key.size() >= 2 && row_key[0] == prefix[0] && row_key[1] == prefix[1];
}

/// The kind of a row with this row key; null for a row of an entity.
[[nodiscard]] constexpr kind const* kind_of(std::string_view row_key) noexcept {
    if (!is_one(row_key)) {
        return nullptr;
    }
    for (kind const& each : kinds) {
        if (row_key.starts_with(each.prefix)) {
            return &each;
        }
    }
    return &unknown;
}

/// Whether each kind has a prefix of its own below the reserved one, and none begins with another's.
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
