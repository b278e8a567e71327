// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The operation row: a row that a write inserts together with its own rows, in the same partition and as the first change of the same
/// transaction. While it exists, the write was applied, or, if the row is void, never will be: it causes every later attempt to be refused.
/// A missing row proves nothing: an attempt may be in flight. The row is a system row and a stored format, see docs/stored_formats.md.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/chrono.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/core/row/system_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace operation_row {

/// Prefix of the row keys of operation rows.
inline constexpr std::string_view row_key_prefix = system_row::operation;
inline constexpr std::int32_t version = 1; ///< version of the stored form

/// Time after which an operation row may be removed: longer than the longest call with its retries plus the latest arrival of an attempt
/// whose response was lost. Do not reuse an operation id after that.
inline constexpr std::chrono::hours retention{24};

/// Returns the row key for an operation id.
[[nodiscard]] inline std::string row_key(std::string_view operation_id) {
    return std::string{row_key_prefix}.append(operation_id);
}

/// Digest of a write: kinds, keys, conditions, properties. Distinguishes two writes under one operation id.
ENTITABLE_LAZY [[nodiscard]] std::int64_t content_of(std::vector<mutation> const& changes) noexcept;

/// Makes the operation row of a write with this digest.
ENTITABLE_LAZY [[nodiscard]] row make(
    std::string_view partition_key, std::string_view operation_id, std::int64_t content);

/// Makes the void row, which abandons an operation: while it exists, no write under the id is applied.
ENTITABLE_LAZY [[nodiscard]] row make_void(std::string_view partition_key, std::string_view operation_id);

/// Whether a transaction inserts an operation row as its first change.
[[nodiscard]] inline bool is_first_of(transact const& request) noexcept {
    return !request.changes.empty() && request.changes.front().kind == mutation_kind::insert &&
        request.changes.front().entity.row_key().starts_with(row_key_prefix);
}

/// Whether an operation row, for which `is_one` is true, is void.
ENTITABLE_LAZY [[nodiscard]] bool is_void(row_view found) noexcept;

/// Whether this is an operation row of a known version.
ENTITABLE_LAZY [[nodiscard]] bool is_one(row_view found) noexcept;

} // namespace operation_row
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/request/impl/operation_row.ipp>
#endif

#endif
