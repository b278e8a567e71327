// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Compares stored sums with sums computed from the entities, and rewrites wrong sums, one partition after the other.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/index/detail/index_family.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Findings of an audit of sums.
struct sum_audit {
    std::uint64_t entities{};      ///< number of entities that were read
    std::uint64_t rows{};          ///< correct rows of sums
    std::uint64_t different{};     ///< wrong or missing rows; rewritten if requested
    std::vector<row_keys> samples; ///< keys of the first wrong rows
};

/// Audits the sums at one position of the family, in one partition, and rewrites wrong sums if requested.
[[nodiscard]] result<table_verification> audit_sums_in(
    index_family const& family, std::size_t position, result<std::string> partition_key, bool mend);
/// Audits the sums at one position of the family, in all partitions. A row whose version shows that a writer changed it
/// in the meantime is checked again. Errors: UpdateConditionNotSatisfied if a sum changed in every attempt;
/// NotSupported if the service does not list partitions.
[[nodiscard]] result<sum_audit> audit_all_sums(
    index_family const& family, std::size_t position, bool mend, std::size_t max_samples, bool building = false);

/// Verifies all indexes and sums of a family.
[[nodiscard]] result<table_verification> verify_companions(index_family const& family, std::size_t max_samples);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/index/impl/sum_audit.ipp>
#endif

#endif
