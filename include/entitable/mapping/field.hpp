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
    using entity_type = Entity;                        ///< whose key it is part of
    using value_type = typename Component::value_type; ///< the member's type
    using codec = typename Component::codec;           ///< its text form
};

/// A property of `Entity`.
template <class Entity, auto Member>
struct property_field {
    using entity_type = Entity;                     ///< whose property it is
    using value_type = detail::member_type<Member>; ///< the member's type

    std::string_view name; ///< as it is stored
};

ENTITABLE_END_NAMESPACE
