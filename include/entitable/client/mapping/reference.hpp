// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `reference<book>`: a member that names another entity by its keys.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <optional>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

/// The keys of an entity of type `Entity`, in the same table or in a different one. A member is stored as two text
/// properties: `<name>_PartitionKey` and `<name>_RowKey`; an optional member may be absent. `books.get(order.book)` is
/// a point read. Nothing checks that the entity exists: its removal does not change the reference.
/// `table::reference_to` makes a reference from key components, `reference_to` from an entity.
template <class Entity>
struct reference {
    using entity_type = Entity; ///< type of the entity that it refers to

    std::string partition_key; ///< the first key, as text
    std::string row_key;       ///< the second key, as text

    friend bool operator==(reference const&, reference const&) = default; ///< whether both hold the same keys
};

namespace detail {

template <class T>
inline constexpr bool is_reference_type = false;
template <class Entity>
inline constexpr bool is_reference_type<reference<Entity>> = true;
template <class Entity>
inline constexpr bool is_reference_type<std::optional<reference<Entity>>> = true;

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
