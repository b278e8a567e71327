// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The part of `table<wide<E>>` that does not depend on its entity: conversion of one wide row to several rows of a partition, and back.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/detail/transaction_scope.hpp>
#include <entitable/client/stored.hpp>
#include <entitable/client/table_core.hpp>
#include <entitable/client/wide/wide_options.hpp>
#include <entitable/core/row/system_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Property of all rows of a wide entity; its own properties must not have one of these names.
inline constexpr std::string_view wide_generation = "WideGeneration";
using system_row::wide_parts;

/// Content of a main row.
struct wide_head {
    std::size_t parts{};
    std::int64_t generation{};
};

/// Returns the prefix of the row keys of an entity's parts; two digits follow.
[[nodiscard]] std::string wide_part_prefix(std::string_view row_key);

/// Returns the parts of a row, with their keys, followed by the main row. Errors: EntityTooLarge if there are more parts than a transaction
/// of the profile may have, RequestBodyTooLarge if they exceed its size limit; both are detected before anything is
/// read.
[[nodiscard]] result<std::vector<row>> split_wide(
    row_view whole, std::int64_t generation, std::string_view entity, profile const& limits);

/// Replaces all rows of an entity in one transaction. Errors: NotSupported for a merge.
[[nodiscard]] result<wide_written> write_wide(table_core const& core, mutation_kind kind, result<row> const& whole,
    etag_condition const& condition, std::string_view entity, wide_options const& options);

/// A wide row that was read, with all parts of one generation.
struct wide_found {
    row whole; ///< row without a version
    etag version;
    date_time timestamp;
    std::uint32_t attempts{};
};
/// Reads and joins the rows of an entity; starts over if a writer has changed it in between. Errors: ResourceNotFound if it does not exist.
[[nodiscard]] result<wide_found> read_wide(table_core const& core, result<std::string> const& partition_key,
    result<std::string> const& row_key, std::string_view entity, wide_options const& options);

/// Reads an entity, calls `change` to make another row from it, and writes that row under the version that was read;
/// starts over if another writer changed the entity first.
[[nodiscard]] result<wide_written> update_wide(table_core const& core, result<std::string> const& partition_key,
    result<std::string> const& row_key, function_ref<result<std::optional<row>>(row_view)> change,
    std::string_view entity, wide_options const& options);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/wide/impl/wide_rows.ipp>
#endif

#endif
