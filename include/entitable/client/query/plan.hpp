// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The planner: turns a predicate into disjoint sorted key ranges, a filter for the service, and a filter for the client. Input and output
/// are plain data.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/query/predicate.hpp>
#include <entitable/core/request/key_range.hpp>
#include <entitable/core/request/kinds.hpp>
#include <entitable/core/request/profile.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Maximum number of key ranges of a query, and of alternatives during planning.
inline constexpr std::size_t max_key_ranges = 1000;

/// The plan of a query. The three parts together accept exactly the entities that the predicate accepts.
struct query_plan {
    access_path access{access_path::table}; ///< how the query reaches the rows
    std::vector<key_range> ranges;          ///< disjoint and in order; empty if nothing can match
    filter server;                          ///< filter for the service: comparisons with properties
    predicate_nodes client; ///< the whole predicate if ranges and filter accept too much; otherwise empty
    std::size_t
        shortened_to{}; ///< size in bytes to which ranges and filter were reduced to fit into a URL; 0: not reduced
    bool meets_system_rows{}; ///< set if the ranges may contain system rows: the client skips them
};

/// The output of `explain()`. The texts contain values of the query.
struct explanation {
    access_path access{};                ///< how the query reaches the rows
    std::vector<std::string> key_ranges; ///< key ranges as text, in order
    std::string server_filter;           ///< empty if there is none
    std::string client_filter;           ///< empty if there is none
    bool leaves_out_system_rows{};       ///< set if the key ranges may contain system rows, which the client skips
    projection properties;               ///< properties that the service returns; empty: all
    std::size_t requests{};              ///< minimum number: one for each key range, and more for further pages
    /// set if the whole result certainly arrives in `requests` requests, without a continuation token, however much the table grows: each
    /// range is one row
    bool never_continues{};
    std::size_t shortened_to{};  ///< see `query_plan`
    std::string sorted_by{};     ///< order in which the client sorts the rows; empty if it does not sort
    std::uint64_t sorted_rows{}; ///< maximum number of rows that it holds to sort them
    /// set if the client checks members under their former names or types, too, because the table is not known to be migrated
    bool meets_former{};

    /// Formats one line per part.
    ENTITABLE_LAZY [[nodiscard]] std::string to_string() const;
};

/// Maximum number of comparisons in the condition of a query under these limits. Four are reserved for the keys: a transport may narrow a
/// range, as `sharded` does.
[[nodiscard]] constexpr std::size_t max_condition_comparisons(profile const& limits) noexcept {
    constexpr std::size_t for_keys = 4;
    if (limits.max_comparisons == 0) { return ~std::size_t{0} / 2; }
    return limits.max_comparisons < for_keys ? 0 : limits.max_comparisons - for_keys;
}

/// Plans `predicate` for a service with these limits. Errors: QueryTooComplex if it needs more than `max_key_ranges`; OutOfRangeInput for a
/// range of a key component whose operand has no position among its texts.
ENTITABLE_LAZY [[nodiscard]] result<query_plan> make_plan(
    predicate_nodes const& predicate, access_path access, key_layout partition, key_layout row, profile const& limits);

/// Returns the properties that a query for `wanted` requests from the service, including those that the client's part of the predicate
/// uses. Empty means all.
ENTITABLE_LAZY [[nodiscard]] projection properties_read(query_plan const& plan, projection wanted);

/// Describes a plan as readable text; `wanted` are the selected properties, an empty list means all.
ENTITABLE_LAZY [[nodiscard]] explanation explain(query_plan const& plan, projection wanted = {});

/// Whether a row satisfies the client's part; true if there is none.
ENTITABLE_LAZY [[nodiscard]] bool satisfies(
    row_view const& row, predicate_nodes const& predicate, key_layout partition_layout, key_layout row_layout);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/query/impl/plan.ipp>
#endif

#endif
