// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// System rows: rows of the library among the rows of an application, in the same table and partition. Their row keys begin with one
/// reserved prefix. Queries, counts, pages and copies leave them out; writes of entities refuse such a key (KeyReserved). Requests
/// at the seam of transports (`query_entities`, `write_entity`) treat them as any other row.
///
/// This header is their register: a new kind has a line here, a section in docs/stored_formats.md and a behaviour in the
/// conformance suite.

#include <entitable/core/config.hpp>

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

/// One kind of system row.
struct kind {
    std::string_view prefix;     ///< of its row keys
    std::string_view says;       ///< what a row of it says
    std::string_view written_by; ///< the header that makes it
};

/// All kinds.
inline constexpr kind kinds[] = {
    {operation, "a write was applied, or it never will be", "entitable/request/operation_row.hpp"},
    {exclusive, "its version is that of the partition, for exclusive transactions", "entitable/client/transaction.hpp"},
    {bulk, "how far a bulk load is", "entitable/bulk/bulk_checkpoint.hpp"},
    {intent, "what a change of an entity does to rows in other partitions", "entitable/index/intent.hpp"},
    {index, "whether an index is kept and used", "entitable/index/indexed_table.hpp"},
    {wide, "some of the properties of a wide entity", "entitable/pattern/wide_table.hpp"},
    {queue, "how many lanes a queue has", "entitable/messaging/table_queue.hpp"},
    {message, "work to be done, and who does it", "entitable/messaging/table_queue.hpp"},
    {identity, "a message of a queue was enqueued, and maybe is done", "entitable/messaging/table_queue.hpp"},
    {dead_letter, "a message that was claimed too often", "entitable/messaging/table_queue.hpp"},
    {outbox, "a message that is to be put into its queue", "entitable/messaging/table_queue.hpp"},
    {view, "which generation of a view is read, or that there is one", "entitable/bulk/materialized_view.hpp"},
    {copy, "which batch of a move was the last one in its partition", "entitable/shards/shard_move.hpp"},
};

/// Whether a row with this row key is a system row.
[[nodiscard]] constexpr bool is_one(std::string_view row_key) noexcept {
    return row_key.size() >= 2 && row_key[0] == prefix[0] && row_key[1] == prefix[1];
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
