// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The planner: turns a predicate into disjoint sorted key ranges, a filter for the service, and what is left to check in the client.
/// Plain data in, plain data out.

#include <entitable/query/predicate.hpp>
#include <entitable/request/key_range.hpp>
#include <entitable/request/kinds.hpp>
#include <entitable/request/profile.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The most key ranges that a query may have, and the most alternatives while it is planned.
inline constexpr std::size_t max_key_ranges = 1000;

/// How a query will be run. The three parts together accept exactly the entities that the predicate accepts.
struct query_plan {
    access_path access{access_path::table}; ///< how it reaches its rows
    std::vector<key_range> ranges;          ///< disjoint and in order; none when nothing can match
    filter server;                          ///< what the service checks: comparisons with properties
    predicate_nodes client;                 ///< the whole predicate, where ranges and filter accept too much; else none
    std::size_t
        shortened_to{}; ///< bytes that ranges and filter were cut to in order to fit into a URL; 0: nothing was cut
    bool meets_system_rows{}; ///< the ranges may hold system rows: the client leaves them out
};

/// What `explain()` shows. The texts hold the query's values.
struct explanation {
    access_path access{};                ///< how it reaches its rows
    std::vector<std::string> key_ranges; ///< as text, in their order
    std::string server_filter;           ///< empty: none
    std::string client_filter;           ///< empty: none
    bool leaves_out_system_rows{};       ///< the client does, because the key ranges may hold some
    projection properties;               ///< those that the service sends; empty: all
    std::size_t requests{};              ///< one for each key range; further pages take more
    std::size_t shortened_to{};          ///< see `query_plan`

    /// One line per part.
    ENTITABLE_LAZY [[nodiscard]] std::string to_string() const;
};

/// How many comparisons the condition of a query may have under these limits. Four are kept for the keys: a transport may make a range narrower, as
/// `sharded` does.
[[nodiscard]] constexpr std::size_t max_condition_comparisons(profile const& limits) noexcept {
    constexpr std::size_t for_keys = 4;
    if (limits.max_comparisons == 0) {
        return ~std::size_t{0} / 2;
    }
    return limits.max_comparisons < for_keys ? 0 : limits.max_comparisons - for_keys;
}

/// Plans `predicate` for a service with these limits. Errors: QueryTooComplex when it needs more than `max_key_ranges`; OutOfRangeInput
/// for a range of a key component whose operand has no place among its texts.
ENTITABLE_LAZY [[nodiscard]] result<query_plan> make_plan(
    predicate_nodes const& predicate, access_path access, key_layout partition, key_layout row, profile const& limits);

/// The properties that a query for `wanted` ones asks the service for: also those that the client's part of the predicate looks at.
/// None means all.
ENTITABLE_LAZY [[nodiscard]] projection properties_read(query_plan const& plan, projection wanted);

/// Describes a plan for a person; `wanted` are the properties asked for, none means all.
ENTITABLE_LAZY [[nodiscard]] explanation explain(query_plan const& plan, projection wanted = {});

/// Whether a row satisfies the client's part; true where there is none.
ENTITABLE_LAZY [[nodiscard]] bool satisfies(
    row_view const& row, predicate_nodes const& predicate, key_layout partition_layout, key_layout row_layout);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/query/impl/plan.ipp>
#endif
