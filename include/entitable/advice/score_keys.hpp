// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `score_keys`: the cost of a workload under a declaration of keys, and `compare<A, B>`: the costs under the declarations of two types.
/// The model is described in `key_score.hpp`.

#include <entitable/advice/key_score.hpp>
#include <entitable/advice/targets.hpp>
#include <entitable/advice/workload.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Estimates the cost of a workload under a declaration. At most 100,000 rows of the sample are used, evenly spread.
[[nodiscard]] key_score score_keys(table_sample const& sample, workload const& load, key_declaration const& declared,
    service_targets const& targets = storage_targets());

/// Two declarations under one workload.
struct key_comparison {
    key_score one;   ///< score of the first declaration
    key_score other; ///< score of the second declaration

    /// Whether the first declaration fits and the second does not; if both or neither fit, whether the first costs less.
    [[nodiscard]] bool first_is_better() const noexcept {
        return one.fits != other.fits ? one.fits : one.cost < other.cost;
    }
    /// Returns the comparison as text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

/// Compares two declarations by names of members.
[[nodiscard]] key_comparison compare_keys(table_sample const& sample, workload const& load, key_declaration const& one,
    key_declaration const& other, service_targets const& targets = storage_targets());

/// Compares the keys of two types whose members have the names used in the sample and the workload.
template <mapped_entity One, mapped_entity Other>
[[nodiscard]] key_comparison compare(
    table_sample const& sample, workload const& load, service_targets const& targets = storage_targets()) {
    return compare_keys(sample, load, declaration_of<One>(), declaration_of<Other>(), targets);
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/score_keys.ipp>
#endif
