// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The types of a table of several types: which of them are entities, and whether their keys are distinguished. Compile time only.

#include <entitable/client/mapping/key_pattern.hpp>

#include <tuple>

ENTITABLE_BEGIN_NAMESPACE

/// A type of a table that is an entity although it looks like an index or a sum of another type of the table: `table<runner,
/// as_entity<by_age>>` reads and writes both, and the program itself keeps them equal.
template <class Entity>
struct as_entity {};

namespace detail {

template <class... Types>
struct type_list {};

/// A type as it stands in the list of a table.
template <class Declared>
struct listed_type {
    using type = Declared;
    static constexpr bool always_entity = false;
};
template <class Entity>
struct listed_type<as_entity<Entity>> {
    using type = Entity;
    static constexpr bool always_entity = true;
};
template <class Declared>
using type_of_listed = typename listed_type<Declared>::type;

template <class Type, class List>
inline constexpr bool is_in_list = false;
template <class Type, class... Types>
inline constexpr bool is_in_list<Type, type_list<Types...>> = (std::is_same_v<Type, Types> || ...);

/// Whether rows of another type of the list can be in the same partitions.
template <class Type, class... Types>
inline constexpr bool shares_partitions_with =
    ((!std::is_same_v<Type, Types> &&
         !pattern_of_type<Type>.partition.differs_from(pattern_of_type<Types>.partition)) ||
        ...);

template <class Type, class Other>
inline constexpr bool extends = std::is_base_of_v<Other, Type> && !std::is_same_v<Other, Type>;

/// Reports in one line what is wrong with a type of a list.
template <class Declared, class... All>
consteval bool allow_type() {
    using type = type_of_listed<Declared>;
    constexpr bool mapped = mapped_entity<type>;
    static_assert(mapped, "every type of a table needs an ENTITABLE(...)");
    if constexpr (mapped && (mapped_entity<type_of_listed<All>> && ...)) {
        constexpr bool once = (std::size_t{std::is_same_v<type, type_of_listed<All>>} + ...) == 1;
        static_assert(once, "a type is twice in the list of a table");
        constexpr bool apart = (are_told_apart<type, type_of_listed<All>> && ...);
        static_assert(apart,
            "the row keys of two types of this table are ambiguous: begin them with different literals, for example "
            "row_key(literal(\"ORDER:\"), number)");
        constexpr bool index = !listed_type<Declared>::always_entity && (extends<type, type_of_listed<All>> || ...);
        static_assert(!index,
            "this type derives from another one of the table: name it as_entity<by_age>, or let an indexed_table "
            "maintain it");
    }
    return true; // what is wrong was reported
}

/// The entity types of a list.
template <class... Declared>
using entities_of = type_list<type_of_listed<Declared>...>;

/// The values of the members in a key, in order.
template <class Components>
struct values_of;
template <class... Components>
struct values_of<components<void, Components...>> {
    using type = std::tuple<typename Components::value_type...>;
};

/// Whether two keys have components of the same types and kinds, and the same literals.
[[nodiscard]] constexpr bool same_layout(key_layout one, key_layout other) noexcept {
    bool same = one.size() == other.size();
    for (std::size_t index = 0; same && index < one.size(); ++index) {
        key_component const& left = one[index];
        key_component const& right = other[index];
        same = left.is == right.is && left.optional == right.optional && left.escaped == right.escaped &&
            left.buckets == right.buckets && (!left.literal() || left.name == right.name);
    }
    return same;
}

template <class One, class Other>
inline constexpr bool share_partitions =
    std::is_same_v<typename values_of<typename mapping<One>::partition_components>::type,
        typename values_of<typename mapping<Other>::partition_components>::type> &&
    same_layout(mapping<One>::partition_layout, mapping<Other>::partition_layout);

} // namespace detail
ENTITABLE_END_NAMESPACE
