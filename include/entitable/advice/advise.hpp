// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `advise`: finds problems with a table's keys under a workload, and better keys: each a `key_candidate`.

#include <entitable/advice/key_score.hpp>
#include <entitable/advice/workload.hpp>
#include <entitable/core/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// The kind of finding. At most one of the kinds down to `too_coarse` is reported. `append_only`, `prepend_only` and `log_data` need more than 10
/// partitions.
enum class finding_kind : std::uint8_t {
    one_partition_is_fine, ///< there is one partition, and its rate and size are below the targets
    append_only, ///< partition keys increase over time (rank correlation > 0.9): the end of the table receives all writes
    prepend_only, ///< partition keys decrease over time (rank correlation < -0.9): the beginning of the table receives all writes
    log_data, ///< partition keys increase over time, with at least 10 entities in a partition: the newest partition receives all writes
    few_partitions, ///< there are 2 to 10 partitions: the load cannot be spread further
    skewed,         ///< there are over 10 partitions; one has a fifth of the entities, and five times the mean
    too_coarse,     ///< the busiest partition exceeds its target, or its maximum size
    too_fine, ///< at least 100 partitions of fewer than 2 entities on average, and transactions or ranges that need more
    split_transaction, ///< entities that are written together, in one transaction, are in several partitions
    account_exceeded,  ///< all partitions together exceed the target of an account
    scans, ///< a dominant query reads more than a page of rows: the whole table, or more than 10 rows for each returned row
    misses_latency,       ///< a query cannot meet its latency limit, under the model
    several_pages,        ///< a query with `query_rate::one_page` needs several pages, or will within a year of growth
    unordered_range,      ///< a range query on a key component that does not preserve the order of its values
    two_dominant_queries, ///< even with the best keys, one query causes a fifth of the cost: an index would serve it
    mixed_types,          ///< a property has several types
};

/// Returns the name, such as "append_only".
[[nodiscard]] std::string_view to_string(finding_kind kind) noexcept;

/// The severity of a finding.
enum class severity : std::uint8_t {
    fine,    ///< nothing to do
    note,    ///< harmless at this load
    warning, ///< costs more than necessary
    problem, ///< exceeds a target, or violates a requirement
};

/// Returns the name, such as "warning".
[[nodiscard]] std::string_view to_string(severity how) noexcept;

/// One finding.
struct finding {
    finding_kind kind{};       ///< kind of the finding
    entitable::severity how{}; ///< severity of the finding
    std::string title;         ///< title of one line
    std::string evidence;      ///< numbers that show the problem
    std::string cure;          ///< the remedy
};

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

/// Evaluates the keys of a sample under a workload, and searches for better keys. Errors: those of `workload::validate`; InvalidInput names
/// shared members of writes that no row of the sample has.
[[nodiscard]] result<advice> advise(
    table_sample const& sample, workload const& load, service_targets const& targets = storage_targets());

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/advice_text.ipp>
#include <entitable/advice/impl/advise.ipp>
#endif
