// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `instantiated_entity`: the conversions of an entity, which ENTITABLE_INSTANTIATE compiles in one file. Their definitions are in
/// `client/mapping/codec.hpp`, those for queries in `client/query.hpp` and `client/detail/folds.hpp`, those of `take` and `drop` in `result.hpp`.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

template <class T>
class result;
template <class Entity>
struct updated;
class row;
struct row_view;
enum class reading : std::uint8_t;

namespace detail {

class any_query;
struct entity_kind;
struct row_kind;

/// The conversions of an entity. They are defined outside the class: a function that is defined within a class is inline, and each file
/// would compile it in spite of ENTITABLE_EXTERN. The linker shows the name of this class if ENTITABLE_INSTANTIATE is missing.
template <class Entity>
struct instantiated_entity {
    static result<std::string> partition_key(Entity const& entity);
    static result<std::string> row_key(Entity const& entity);
    static result<void> to_row(Entity const& entity, row& into);
    static result<row> new_row(Entity const& entity);
    static result<void> write(void const* from, row& to);
    static result<void> read(row_view const& from, void* to, reading mode);
    static void reset(void* entity); ///< resets to a default-constructed entity
    static entity_kind const kind;
    // What queries and iterators use.
    static void* add(
        void* entities, std::size_t room); ///< appends an entity to a `std::vector`, which first gets that room
    static void* make();
    static void remove(void* made) noexcept;
    static row_kind const rows;
    static result<std::optional<Entity>> first(any_query const& asked);
    static result<std::vector<Entity>> all(any_query const& asked);
    // Move values out of results, and destroy results. For any aggregate: a result does not know whether its value is an entity.
    static Entity take(result<Entity>& from);
    static std::vector<Entity> take(result<std::vector<Entity>>& from);
    static updated<Entity> take(result<updated<Entity>>& from);
    static void drop(result<Entity>& from) noexcept;
    static void drop(result<std::vector<Entity>>& from) noexcept;
    static void drop(result<updated<Entity>>& from) noexcept;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
