// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Compares stored sums with those computed from the entities, and rewrites wrong ones, one partition after the other.

#include <entitable/client/companions/index/detail/index_family.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What an audit of sums has found.
struct sum_audit {
    std::uint64_t entities{};      ///< number of entities that were read
    std::uint64_t rows{};          ///< correct rows of sums
    std::uint64_t different{};     ///< wrong or missing rows; rewritten if asked for
    std::vector<row_keys> samples; ///< the first of these
};

/// Audits the sums at one position of the family, in one partition. `building`: the sums may lack entities, so that a row which a writer changes
/// between the reads may look correct: it is compared again until it had one version at both.
[[nodiscard]] result<void> audit_partition(index_family const& family, std::size_t position,
    std::string const& partition_key, bool mend, std::size_t max_samples, random_source& random, sum_audit& into,
    bool building = false);
/// Audits the sums at one position of the family, in all partitions. A row that a writer changes meanwhile is checked again: its version
/// shows it. Errors: UpdateConditionNotSatisfied if a sum changed in every attempt; NotSupported if the service does not list partitions.
[[nodiscard]] result<sum_audit> audit_all_sums(
    index_family const& family, std::size_t position, bool mend, std::size_t max_samples, bool building = false);

/// Verifies all indexes and sums of a family.
[[nodiscard]] result<table_verification> verify_companions(index_family const& family, std::size_t max_samples);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/index/impl/sum_audit.ipp>
#endif
