// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Marks of migrations: system rows that say that no row of a table has the former name or type of a member any more. `migrate` writes
/// them; queries read them, to let the service compare the member again. Format: docs/stored_formats.md.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/changed.hpp>
#include <entitable/client/query/reading.hpp>
#include <entitable/core/atomic.hpp>
#include <entitable/core/detail/known_names.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the row key of the mark of a member, for the entities whose row keys begin with this literal.
ENTITABLE_LAZY [[nodiscard]] std::string mark_row_key(
    std::string_view name, former_property const& former, key_layout row_layout);

ENTITABLE_LAZY [[nodiscard]] query_entities marks_request(std::string_view table);

/// What a query with a condition on a changed member does in a migrated table. Shared by the copies of the query.
struct former_watch : counted {
    query_parts migrated;            ///< the query for a migrated table: the service compares the members
    query_entities request;          ///< reads the marks
    std::vector<std::string> wanted; ///< row keys of the marks of the members
    shared<known_names> known;       ///< the marks that other queries of the table have found; may be null
    mutable atomic<bool> done{false};

    /// Whether the rows contain all marks.
    ENTITABLE_LAZY [[nodiscard]] bool all_in(page const& marks) const;
};

/// Makes the watch of a query; null if no condition is on a changed member.
ENTITABLE_LAZY [[nodiscard]] shared<former_watch> watch_for(
    query_parts const& asked, predicate_nodes const& condition, profile const& limits, shared<known_names> known);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/migration_mark.ipp>
#endif

#endif
