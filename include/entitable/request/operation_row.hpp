// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The operation row: a row that a write inserts beside its own, in the same partition and as the first change of the same
/// transaction. While it is there, the write was applied, or, where it is void, never will be: each attempt is refused at this row
/// from then on. That it is absent proves nothing: an attempt may be on its way. It is a system row and a stored format, see
/// docs/stored_formats.md.

#include <entitable/core/chrono.hpp>
#include <entitable/request/requests.hpp>
#include <entitable/row/system_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace operation_row {

/// The row keys of operation rows begin with this.
inline constexpr std::string_view row_key_prefix = system_row::operation;
inline constexpr std::int32_t version = 1; ///< of the stored form

/// How long an operation row stays before it may be removed: longer than a call with its retries takes and an attempt whose answer was
/// lost may be late, together. Do not reuse an operation id after that.
inline constexpr std::chrono::hours retention{24};

/// The row key for an operation id.
[[nodiscard]] inline std::string row_key(std::string_view operation_id) {
    return std::string{row_key_prefix}.append(operation_id);
}

/// A digest of what is written: kinds, keys, conditions, properties. It tells two writes under one operation id apart.
[[nodiscard]] std::int64_t content_of(std::vector<mutation> const& changes) noexcept;

/// The operation row of a write with this digest.
[[nodiscard]] row make(std::string_view partition_key, std::string_view operation_id, std::int64_t content);

/// The void row, which gives an operation up: while it is there no write under the id is applied.
[[nodiscard]] row make_void(std::string_view partition_key, std::string_view operation_id);

/// Whether a transaction inserts its operation row, which is its first change.
[[nodiscard]] inline bool is_first_of(transact const& request) noexcept {
    return !request.changes.empty() && request.changes.front().kind == mutation_kind::insert &&
        request.changes.front().entity.row_key().starts_with(row_key_prefix);
}

/// Whether an operation row, known by `is_one`, is void.
[[nodiscard]] bool is_void(row_view found) noexcept;

/// Whether this is an operation row of a version known here.
[[nodiscard]] bool is_one(row_view found) noexcept;

} // namespace operation_row
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/request/impl/operation_row.ipp>
#endif
