// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// System rows: rows of the library among the rows of an application, in the same table and partition. Their row keys begin with one
/// reserved prefix. Queries, counts and pages skip them; writes of entities refuse such a key (KeyReserved). Transport requests
/// (`query_entities`, `write_entity`) treat them like any other row.
///
/// This header has their row keys. A new kind needs a line here, a line in `system_row_kinds.hpp`, which defines how a copy of the table
/// treats it, a section in docs/stored_formats.md and a behaviour in the conformance suite.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

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
/// Stored access policies of a table that a server serves, in a partition of that name. Clients of the server cannot reach it.
inline constexpr std::string_view policies = "~!policies!";
/// Row key of the row that each batch of a move writes in its partition, at the target.
inline constexpr std::string_view copy = "~!copy!";
/// Bases of a synchronisation: the content that both sides had last.
inline constexpr std::string_view base = "~!base!";
/// State of the synchronisation of a local partition; followed by the name of a device: receipt of its last push, in the cloud.
inline constexpr std::string_view synced = "~!sync!";
/// Change log of a partition: its entries, and the number of the last one.
inline constexpr std::string_view log = "~!log!";
/// A feed: announcements, groups, positions and leases, in a table of their own.
inline constexpr std::string_view feed = "~!feed!";
/// The position in a change log up to which the changes of a source are in the partition.
inline constexpr std::string_view fed = "~!fed!";

/// Int32 property in the main row of a wide entity: the number of its parts, which are system rows. Entities cannot have this property.
inline constexpr std::string_view wide_parts = "WideParts";

/// Whether a row with this row key is a system row.
[[nodiscard]] constexpr bool is_one(std::string_view row_key) noexcept {
    return row_key.size() >= 2 && row_key[0] == prefix[0] && row_key[1] == prefix[1];
}

} // namespace system_row
ENTITABLE_END_NAMESPACE

#endif
