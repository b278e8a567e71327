// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `finding`: one thing that is wrong with the keys of a table, or right, with its figures. Kinds are named after rules of the
/// provider's guides ("Design a scalable partitioning strategy", "Table design guide").

#include <entitable/core/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// What is found. Of the kinds down to `too_coarse` at most one is reported; the next three need more than 10 partitions.
enum class finding_kind : std::uint8_t {
    one_partition_is_fine, ///< there is one partition, and its rate and size are below the targets
    append_only,  ///< partition keys grow with time (rank correlation over 0.9): the end of the table takes all writes
    prepend_only, ///< partition keys fall with time (under -0.9): the beginning of the table takes all writes
    log_data,     ///< the same, with 10 entities or more in a partition: the newest partition takes all writes
    few_partitions, ///< 2 to 10 partitions: the load cannot be spread further
    skewed,         ///< one of more than 10 partitions has a fifth of the entities or more, and five times the mean
    too_coarse,     ///< the busiest partition is over its target, or larger than it may be
    too_fine, ///< 100 partitions or more of fewer than 2 entities on average, and transactions or ranges that need more
    account_exceeded, ///< all partitions together are over the target of an account
    scans, ///< a dominant query reads the whole table, or more than 10 rows for each that it returns; more than a page of rows
    misses_latency,       ///< a query cannot keep its latency, under the model
    unordered_range,      ///< a range is asked of a key component that does not keep the order of its values
    two_dominant_queries, ///< the best keys leave a query that has a fifth of the cost: index rows serve it
    mixed_types,          ///< a property has several types
};

/// "append_only".
[[nodiscard]] std::string_view to_string(finding_kind kind) noexcept;

/// The severity of a finding.
enum class severity : std::uint8_t {
    fine,    ///< nothing to do
    note,    ///< harmless at this load
    warning, ///< costs more than it has to
    problem, ///< over a target, or against a requirement
};

/// "warning".
[[nodiscard]] std::string_view to_string(severity how) noexcept;

/// One thing that was found.
struct finding {
    finding_kind kind{};       ///< its kind
    entitable::severity how{}; ///< its severity
    std::string title;         ///< one line
    std::string evidence;      ///< the figures
    std::string cure;          ///< what to do
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/finding.ipp>
#endif
