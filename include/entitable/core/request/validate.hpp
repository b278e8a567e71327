// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Validation of requests, before any I/O. Each refusal names the invalid item and the limit in its message, has the service's own code,
/// and puts user data into `error::detail`.

#include <entitable/core/request/detail/known_layouts.hpp>
#include <entitable/core/request/kinds.hpp>
#include <entitable/core/request/profile.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Validates the name of a table: 3 to 63 characters A-Z a-z 0-9, a letter first, not "tables" (source: the data model page).
ENTITABLE_LAZY [[nodiscard]] result<void> validate_table_name(std::string_view name);

/// Validates a key: valid UTF-8, no / \ # ? or control characters, at most `max_key_units`. `which` is "PartitionKey" or "RowKey".
ENTITABLE_LAZY [[nodiscard]] result<void> validate_key(
    std::string_view key, std::string_view which, profile const& limits);

/// Validates an entity to be stored: its keys, names, sizes and number of properties.
ENTITABLE_LAZY [[nodiscard]] result<void> validate_entity(row_view entity, profile const& limits);

/// Validates a filter: well formed, within the limits, with valid property names.
ENTITABLE_LAZY [[nodiscard]] result<void> validate_filter(
    filter const& condition, key_range const& range, profile const& limits);

/// Validates a request, with all its parts.
ENTITABLE_LAZY [[nodiscard]] result<void> validate(create_table const& request, profile const& limits);
ENTITABLE_LAZY [[nodiscard]] result<void> validate(delete_table const& request, profile const& limits);
ENTITABLE_LAZY [[nodiscard]] result<void> validate(list_tables const& request, profile const& limits);
ENTITABLE_LAZY [[nodiscard]] result<void> validate(get_entity const& request, profile const& limits);
ENTITABLE_LAZY [[nodiscard]] result<void> validate(read_entity const& request, profile const& limits);
ENTITABLE_LAZY [[nodiscard]] result<void> validate(query_entities const& request, profile const& limits);
ENTITABLE_LAZY [[nodiscard]] result<void> validate(read_entities const& request, profile const& limits);
ENTITABLE_LAZY [[nodiscard]] result<void> validate(write_entity const& request, profile const& limits);
ENTITABLE_LAZY [[nodiscard]] result<void> validate(transact const& request, profile const& limits);

namespace detail {

/// Parts of the previous entity that passed validation with the same limits; equal parts of the next entity are not
/// checked again. Most entities of a program have the same property names, and all entities of a transaction have the
/// same partition key. Refers to that entity.
struct known_good {
    std::string_view partition_key;
    std::string_view descriptor;           ///< names of its properties, including absent ones
    known_layouts* layouts{};              ///< descriptors of earlier entities, and for this one; may be null
    known_layouts::layout const* layout{}; ///< that of the last entity, if `layouts` has it
};

/// Does the same as `validate`, and stores the parts that passed.
ENTITABLE_LAZY [[nodiscard]] result<void> validate_entity(row_view entity, profile const& limits, known_good& known);
ENTITABLE_LAZY [[nodiscard]] result<void> validate_write(
    write_entity const& request, profile const& limits, known_good& known);
ENTITABLE_LAZY [[nodiscard]] result<void> validate_write(
    transact const& request, profile const& limits, known_good& known);

} // namespace detail

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/request/impl/validate.ipp>
#endif
