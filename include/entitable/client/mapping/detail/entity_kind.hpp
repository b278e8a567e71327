// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `entity_kind`: an entity type, for code that is compiled once for all entity types.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/codec.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads a row into an object whose type is known only to the function.
using row_reader = result<void> (*)(row_view const& from, void* to, reading mode);

/// The facts about an entity type that type-erased code needs.
struct entity_kind {
    entity_layout const& layout;
    row_reader read;
    result<void> (*write)(void const* from, row& to);
    void (*reset)(void* entity); ///< resets to a default-constructed entity
};

template <class Entity>
constinit entity_kind const instantiated_entity<Entity>::kind{layout_of_entity<Entity>,
    &instantiated_entity<Entity>::read, &instantiated_entity<Entity>::write, &instantiated_entity<Entity>::reset};

template <class Entity>
inline constexpr entity_kind const& kind_of_entity = instantiated_entity<Entity>::kind;

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
