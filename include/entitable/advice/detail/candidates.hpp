// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Selects the key declarations to score: combinations of the members that dominant queries use, in order of weight.

#include <entitable/advice/advise.hpp>
#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/detail/scorer.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Names of members.
using component_names = std::vector<std::string>;
[[nodiscard]] bool has(component_names const& all, std::string const& one);
/// Adds to `to` the names in `some` that `to` lacks.
void add_once(component_names& to, component_names const& some);
/// Formats names: "a, b".
[[nodiscard]] std::string listed(component_names const& all);

/// The members that a query fixes and bounds, in all of its alternatives.
struct query_members {
    std::string name;
    double weight{};
    component_names fixed;
    component_names ranged;
};

/// Returns the dominant queries: the heaviest queries, which make up 80 % of the weight, and the queries that currently miss their latency
/// limit.
[[nodiscard]] std::vector<query_members> dominant_queries(scorer const& scores, key_score const& present);

/// Returns the candidates with their scores, unsorted; the current declaration is the first.
[[nodiscard]] std::vector<key_candidate> candidates_for(
    scorer& scores, std::vector<query_members> const& dominant, workload const& load, service_targets const& targets);

/// Returns the provider's rule for one query.
[[nodiscard]] std::string guide_for(query_members const& query);

/// Returns in how many of 100 groups each writes with shared members can be one transaction: a line for each of the first `most` candidates,
/// and for the current keys.
[[nodiscard]] text_table together_rows(advice const& of, std::size_t most);

/// Returns ENTITABLE(...) with these keys and all other members as properties.
[[nodiscard]] std::string declaration_text(table_sample const& sample, key_declaration const& declared);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/candidates.ipp>
#endif
