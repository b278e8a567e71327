// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `entity_kind`: an entity type, for code that is compiled once for all entity types.

#include <entitable/client/mapping/codec.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads a row into an object whose type is known only to the function.
using row_reader = result<void> (*)(row_view const& from, void* to, reading mode);

template <class Entity>
[[nodiscard]] result<void> read_entity_row(row_view const& from, void* to, reading mode) {
    return from_row(from, *static_cast<Entity*>(to), mode);
}

/// The facts about an entity type that type-erased code needs.
struct entity_kind {
    entity_layout const& layout;
    row_reader read;
    result<void> (*write)(void const* from, row& to);
    void (*reset)(void* entity); ///< resets to a default-constructed entity
};

template <class Entity>
[[nodiscard]] result<void> write_entity_row(void const* from, row& to) {
    using map = mapping<Entity>;
    return encode_entity(to, *static_cast<Entity const*>(from), typename map::partition_components{},
        typename map::row_components{}, typename map::properties{});
}
template <class Entity>
inline constexpr entity_kind kind_of_entity{
    layout_of_entity<Entity>, &read_entity_row<Entity>, &write_entity_row<Entity>, &reset_entity<Entity>};

} // namespace detail
ENTITABLE_END_NAMESPACE
