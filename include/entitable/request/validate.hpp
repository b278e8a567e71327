// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The one place that refuses bad requests, before any I/O. Each refusal names the offender and the limit in its message, has the code
/// that the service would answer with, and keeps user data in `error::detail`.

#include <entitable/request/kinds.hpp>
#include <entitable/request/profile.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Table names: 3 to 63 of A-Z a-z 0-9, a letter first, not "tables" (source: the data model page).
ENTITABLE_LAZY [[nodiscard]] result<void> validate_table_name(std::string_view name);

/// A key: valid UTF-8, no / \ # ? or control characters, at most `max_key_units`. `which` is "PartitionKey" or "RowKey".
ENTITABLE_LAZY [[nodiscard]] result<void> validate_key(
    std::string_view key, std::string_view which, profile const& limits);

/// An entity to be stored: keys, names, sizes and number of its properties.
ENTITABLE_LAZY [[nodiscard]] result<void> validate_entity(row_view entity, profile const& limits);

/// A filter: well formed, known limits, property names that can exist.
ENTITABLE_LAZY [[nodiscard]] result<void> validate_filter(
    filter const& condition, key_range const& range, profile const& limits);

/// A whole request, with all that it holds.
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

/// Parts of the previous entity that passed validation by the same limits; an equal part of the next one is not checked again. Most
/// entities that a program writes have the same names, and all of a transaction the same partition key. Refers to that entity.
struct known_good {
    std::string_view partition_key;
    std::string_view descriptor; ///< its names, of absent properties too
};

/// As `validate`; keeps what passed.
ENTITABLE_LAZY [[nodiscard]] result<void> validate_entity(row_view entity, profile const& limits, known_good& known);
ENTITABLE_LAZY [[nodiscard]] result<void> validate_write(
    write_entity const& request, profile const& limits, known_good& known);
ENTITABLE_LAZY [[nodiscard]] result<void> validate_write(
    transact const& request, profile const& limits, known_good& known);

} // namespace detail

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/request/impl/validate.ipp>
#endif
