// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `advise`: finds problems with a table's keys under a workload, and better keys: each a `key_candidate`.

#include <entitable/advice/finding.hpp>
#include <entitable/advice/key_score.hpp>
#include <entitable/advice/workload.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Possible keys of a table.
struct key_candidate {
    key_score score;          ///< cost of the workload under these keys
    bool present{};           ///< set for the current keys
    std::string reason;       ///< the reason for the candidate
    std::string gains;        ///< the advantages of partitions of this size (single value, several, unique)
    std::string loses;        ///< the disadvantages of partitions of this size
    std::string finer;        ///< the next member to append to the partition key; empty if there is none
    std::string finer_effect; ///< the effect of appending this member
    std::string declaration;  ///< declaration to copy: ENTITABLE(...)
    double copy_requests{};   ///< minimum number of requests for a copy to these keys; 0 for the current keys
    double copy_seconds{};    ///< minimum time of the copy, at the target of an account
};

/// The result of `advise`.
struct advice {
    census there;                          ///< the current table
    service_targets targets;               ///< the targets to compare with
    std::vector<std::string> dominant;     ///< names of the dominant queries, by weight
    std::vector<std::string> guide;        ///< the provider's rule for each of these queries
    std::vector<finding> findings;         ///< the most severe first
    std::vector<key_candidate> candidates; ///< the best candidate first; the current keys are one of the candidates
    std::size_t present{};                 ///< the index of the current keys among the candidates

    /// Returns the finding of a kind; null if there is none.
    [[nodiscard]] finding const* find(finding_kind kind) const noexcept;
    /// Returns the advice as text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

/// Evaluates the keys of a sample under a workload, and searches for better keys. Errors: those of `workload::validate`.
[[nodiscard]] result<advice> advise(
    table_sample const& sample, workload const& load, service_targets const& targets = storage_targets());

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/advise.ipp>
#endif
