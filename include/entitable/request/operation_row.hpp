// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The operation row: a row that a write inserts beside its own, in the same partition and as the first change of the same
/// transaction. Whoever finds it knows that the write was applied, or, where it is void, that it never will be: each sending of the
/// write is refused at this row from then on. That it is not there says nothing: a sending may be on its way. A system row, and a
/// stored format, see docs/stored_formats.md.

#include <entitable/core/chrono.hpp>
#include <entitable/request/requests.hpp>
#include <entitable/row/system_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace operation_row {

/// The row keys of operation rows begin so.
inline constexpr std::string_view row_key_prefix = system_row::operation;
inline constexpr std::int32_t version = 1; ///< of the stored form

/// How long an operation row stays before it may be removed. Longer than a call with its repetitions goes on, and than a
/// sending whose answer was lost may be late, together; an operation id is not to be used again for as long after that.
inline constexpr std::chrono::hours retention{24};

/// The row key for an operation id.
[[nodiscard]] inline std::string row_key(std::string_view operation_id) {
    return std::string{row_key_prefix}.append(operation_id);
}

/// A number that says what was written: kinds, keys, conditions, properties. Two writes under one operation id have two.
[[nodiscard]] std::int64_t content_of(std::vector<mutation> const& changes) noexcept;

/// The row that says it, with the number of its content.
[[nodiscard]] row make(std::string_view partition_key, std::string_view operation_id, std::int64_t content);

/// The row that gives an operation up: in its place no write under the id is applied any more.
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
