// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What the macro declared, found by the entity's type.

#include <entitable/mapping/macro.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class T>
concept declares_mapping = requires(T const* none) { entitable_mapping_of(none).entity_name; };

/// Of a type that was not declared: just enough that the message is the only one.
struct no_mapping {
    struct fields {};
};

template <class T, bool Declared = declares_mapping<T>>
struct mapping_of {
    static_assert(Declared, "this type is no entity: write ENTITABLE(type, ...) after it, in its own namespace");
    using type = no_mapping;
};

template <class T>
struct mapping_of<T, true> {
    static_assert(
        std::is_default_constructible_v<T>, "an entity is read into a fresh object: it needs a default constructor");
    using type = decltype(entitable_mapping_of(static_cast<T const*>(nullptr)));
    static_assert(std::is_same_v<typename type::entitable_entity, T>,
        "this type has only the mapping of its base class: write ENTITABLE(type, ...) after it");
};

} // namespace detail

/// What ENTITABLE generated for T.
template <class T>
using mapping = typename detail::mapping_of<T>::type;

/// The fields of T, for predicates: `using r = entitable::fields<registration>; r::age >= 50`.
template <class T>
using fields = typename mapping<T>::fields;

/// T was declared with ENTITABLE.
template <class T>
concept mapped_entity = detail::declares_mapping<T>;

ENTITABLE_END_NAMESPACE
