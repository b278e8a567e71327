// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `instantiated_calls`: what the calls of a table and the endings of a query compile for each entity. ENTITABLE_INSTANTIATE compiles them in
/// one file. Their definitions are in `query.hpp` and `keyed_operations.hpp`.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/mapping.hpp>
#include <entitable/core/detail/instantiated_entity.hpp>

#include <optional>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

struct key_source;
template <class T>
class result;
template <class Entity>
struct stored;
template <class Entity>
struct updated;
struct update_options;

namespace detail {

class any_query;
class table_core;
struct entity_change;
struct row_kind;

/// Defined outside the class, as `instantiated_entity` is. A member of that class, so that one explicit instantiation contains both.
template <class Entity>
struct instantiated_entity<Entity>::calls {
    static void* add(
        void* entities, std::size_t room); ///< appends an entity to a `std::vector`, which first gets that room
    static void* make();
    static void remove(void* made) noexcept;
    static row_kind const rows;
    static result<std::optional<Entity>> first(any_query const& asked);
    static result<std::vector<Entity>> all(any_query const& asked);
    static result<Entity> get(table_core const& table, key_source const* partition, key_source const* row);
    static result<std::optional<Entity>> find(
        table_core const& table, key_source const* partition, key_source const* row);
    static result<stored<Entity>> get_stored(
        table_core const& table, key_source const* partition, key_source const* row);
    static result<updated<Entity>> update(table_core const& table, key_source const* partition, key_source const* row,
        bool forced, entity_change const& change, update_options const& options);
};

template <class Entity>
using instantiated_calls = typename instantiated_entity<Entity>::calls;

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
