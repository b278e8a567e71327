// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `advise`: what is wrong with the keys of a table under a workload, and which keys would serve it better.

#include <entitable/advice/finding.hpp>
#include <entitable/advice/key_candidate.hpp>
#include <entitable/advice/targets.hpp>
#include <entitable/advice/workload.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// What `advise` found.
struct advice {
    census there;                          ///< the table as it is
    service_targets targets;               ///< what it is compared with
    std::vector<std::string> dominant;     ///< names of the dominant queries, by weight
    std::vector<std::string> guide;        ///< the provider's rule for each of them: one key property, two, or more
    std::vector<finding> findings;         ///< the gravest first
    std::vector<key_candidate> candidates; ///< the best first; the present keys are among them
    std::size_t present{};                 ///< the place of the present keys among the candidates

    /// The finding of a kind; null when there is none.
    [[nodiscard]] finding const* find(finding_kind kind) const noexcept;
    /// As text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

/// Judges the keys of a sample under a workload, and looks for better ones. Errors: those of `workload::validate`.
[[nodiscard]] result<advice> advise(
    table_sample const& sample, workload const& load, service_targets const& targets = storage_targets());

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/advise.ipp>
#endif
