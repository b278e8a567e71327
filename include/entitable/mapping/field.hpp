// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Fields: what a predicate names. Empty types that know their entity and member; the operators on them belong to the
/// query room.

#include <entitable/mapping/component.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A component of a key of `Entity`.
template <class Entity, key_part Part, class Component>
struct key_field {
    using entity_type = Entity;
    using value_type = typename Component::value_type;
    using codec = typename Component::codec;
};

/// A property of `Entity`.
template <class Entity, auto Member>
struct property_field {
    using entity_type = Entity;
    using value_type = detail::member_type<Member>;

    std::string_view name; ///< as it is stored
};

ENTITABLE_END_NAMESPACE
