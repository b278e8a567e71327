// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `finding`: a problem, or a strength, of a table's keys, with its numbers. Kinds are named after rules of the provider's guides ("Design
/// a scalable partitioning strategy", "Table design guide").

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
    account_exceeded, ///< all partitions together exceed the target of an account
    scans, ///< a dominant query reads more than a page of rows: the whole table, or more than 10 rows for each returned row
    misses_latency,       ///< a query cannot meet its latency limit, under the model
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

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/finding.ipp>
#endif
