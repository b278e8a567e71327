// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The part of `wide_table<E>` that does not depend on its entity: one wide row as several rows of a partition, and back.

#include <entitable/client/detail/transaction_scope.hpp>
#include <entitable/client/stored.hpp>
#include <entitable/client/table_core.hpp>
#include <entitable/pattern/wide_options.hpp>
#include <entitable/row/system_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Of the rows of a wide entity; no property of it has one of these names.
inline constexpr std::string_view wide_generation = "WideGeneration";
using system_row::wide_parts;

/// What a main row says.
struct wide_head {
    std::size_t parts{};
    std::int64_t generation{};
};

/// The row keys of the parts of an entity: this, and two digits.
[[nodiscard]] std::string wide_part_prefix(std::string_view row_key);

/// The parts of a row, with their keys, and the main row after them. EntityTooLarge where they are more than one transaction of the
/// profile holds, RequestBodyTooLarge where they have more bytes; nothing is read for that.
[[nodiscard]] result<std::vector<row>> split_wide(
    row_view whole, std::int64_t generation, std::string_view entity, profile const& limits);

/// What one write does with what is stored.
enum class wide_write : std::uint8_t { insert, replace, insert_or_replace, remove };

/// Replaces all rows of an entity in one transaction.
[[nodiscard]] result<wide_written> write_wide(table_core const& core, wide_write kind, result<row> const& whole,
    etag_condition const& condition, std::string_view entity, wide_options const& options);

/// A wide row that was read: all of one generation.
struct wide_found {
    row whole; ///< without a version
    etag version;
    date_time timestamp;
    std::uint32_t attempts{};
};
/// The rows of an entity put together; begins again where a writer came in between. ResourceNotFound when there is none.
[[nodiscard]] result<wide_found> read_wide(table_core const& core, result<std::string> const& partition_key,
    result<std::string> const& row_key, std::string_view entity, wide_options const& options);

/// Reads, lets `change` make another row, and writes it under the version that was read; begins again where another was faster.
[[nodiscard]] result<wide_written> update_wide(table_core const& core, result<std::string> const& partition_key,
    result<std::string> const& row_key, function_ref<result<std::optional<row>>(row_view)> change,
    std::string_view entity, wide_options const& options);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/pattern/impl/wide_rows.ipp>
#endif
