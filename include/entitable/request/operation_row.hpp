// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The operation row: a row that a write inserts beside its own, in the same partition and the same transaction. Whoever finds
/// it knows that the write was applied. A stored format, see docs/stored_formats.md.

#include <entitable/request/requests.hpp>
#include <entitable/row/system_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace operation_row {

/// The row keys of operation rows begin so.
inline constexpr std::string_view row_key_prefix = system_row::operation;
inline constexpr std::int32_t version = 1; ///< of the stored form

/// The row key for an operation id.
[[nodiscard]] inline std::string row_key(std::string_view operation_id) {
    return std::string{row_key_prefix}.append(operation_id);
}

/// A number that says what was written: kinds, keys, conditions, properties. Two writes under one operation id have two.
[[nodiscard]] std::int64_t content_of(std::vector<mutation> const& changes) noexcept;

/// The row that says it, with the number of its content.
[[nodiscard]] row make(std::string_view partition_key, std::string_view operation_id, std::int64_t content);

/// Whether this is an operation row of a version known here.
[[nodiscard]] bool is_one(row_view found) noexcept;

} // namespace operation_row
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/request/impl/operation_row.ipp>
#endif
