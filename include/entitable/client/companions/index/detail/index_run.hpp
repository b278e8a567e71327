// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Complete writes to a table with indexes and sums, and maintenance of its indexes, without the types of entities.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/index/detail/index_family.hpp>
#include <entitable/client/detail/transaction_scope.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

using transaction_body = function_ref<result<void>(transaction_scope&)>;

/// Transaction options of a family.
[[nodiscard]] inline transaction_options transaction_with(table_options const& from, std::uint64_t seed = 0) {
    transaction_options made;
    made.max_attempts = from.max_attempts;
    made.delays = from.delays;
    made.time = from.time;
    made.seed = seed;
    return made;
}
/// Refuses the write if the entity does not exist, or has a different version.
[[nodiscard]] result<void> check_entity_version(
    transaction_scope& all, std::string_view row_key, etag_condition const& condition);

/// Limits a count to the maximum of an outcome's member.
[[nodiscard]] inline std::uint16_t capped(std::uint32_t count) noexcept {
    return static_cast<std::uint16_t>(count < 65'535 ? count : 65'535);
}

/// A write, and the entities that it has written.
struct maintained_write {
    transacted told;
    std::vector<std::string> entities; ///< their row keys, in order
    std::vector<etag> versions;        ///< their versions; none if the response was lost

    /// Returns the version of an entity, once; empty if it is not known.
    [[nodiscard]] etag take_version(std::string_view row_key) noexcept {
        for (std::size_t at = 0; at < versions.size(); ++at) {
            if (entities[at] == row_key) { return std::move(versions[at]); }
        }
        return {};
    }
};
/// Runs a body that changes entities, and maintains their index rows and sums.
[[nodiscard]] result<maintained_write> write_maintained_rows(
    index_family const& family, result<std::string> partition_key, transaction_options options, transaction_body body);

/// Removes a row and inserts another row in its partition, or replaces it if their keys are equal, as one transaction of the table.
[[nodiscard]] result<transacted> rekey_row(table_core const& table, result<row> from, result<row> to);

/// Checks every entity and every index row: two scans, and two more of the parts with faults. Unfinished changes of active writers are
/// checked once more before they count.
[[nodiscard]] result<index_verification> verify_indexes(index_family const& family, std::size_t max_samples);
/// Completes intents, then repairs the faults that `verify_indexes` finds.
[[nodiscard]] result<index_repair> repair_indexes(index_family const& family);
/// Does the same for one index, without the intents.
[[nodiscard]] result<index_repair> repair_index(index_family const& family, std::size_t index);

/// Several entities with the same key in a unique index.
struct found_violation {
    std::string index;              ///< name of the index
    row_keys key;                   ///< keys of the index row
    std::vector<row_keys> entities; ///< starts with the entity that the row names, if the row names one of these
};
[[nodiscard]] result<std::vector<found_violation>> violations_of_indexes(index_family const& family);
/// Removes the other entities, if they still have the key; returns how many.
[[nodiscard]] result<std::uint64_t> resolve_violation(
    index_family const& family, found_violation const& which, row_keys const& keep);
/// Completes the intents of interrupted writers.
[[nodiscard]] result<void> apply_intents(index_family const& family, index_repair& done);
/// Writes the expected index rows of one entity.
[[nodiscard]] result<void> mend_entity(index_family const& family, row_keys const& entity, call const& context);

/// An index row and its entity.
struct named_entity {
    row_keys entity;           ///< keys of the entity, from the index row
    row_keys index_row;        ///< keys of the index row
    std::optional<row> stored; ///< the entity, if it exists and has this index row
};

/// Reads the entities, `in_flight` at a time. `stored` stays empty for an entity that was removed, or now has a different index row.
[[nodiscard]] result<void> read_named(
    index_family const& family, std::size_t index, std::vector<named_entity>& all, std::size_t in_flight);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/index/impl/entities_of_rows.ipp>
#include <entitable/client/companions/index/impl/index_care.ipp>
#include <entitable/client/companions/index/impl/index_run.ipp>
#endif

#endif
