// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Declarations of the indexes of a table: `I`, `unique<I>`, `elsewhere<I>`, `elsewhere<unique<I>>`; and the tables of indexes elsewhere.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/index/detail/index_family.hpp>
#include <entitable/client/detail/same_layouts.hpp>
#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// An index with unique keys: a second entity with the same key is refused with EntityAlreadyExists.
template <class Index>
struct unique {};

/// An index whose partition key differs from that of its entities (a global index): maintained by intents, in a table that `in_table`
/// names. It costs requests: 4 for an insert, 7 for a removal, 9 for a change of the key of an index row. Its row exists whenever its
/// entity does; a program that ends in the middle can leave surplus rows, which `where` does not return and `repair`
/// removes. The row key of such an entity must have at most 474 UTF-16 code units, because an intent's row key contains
/// it: KeyValueTooLarge.
template <class Index>
struct elsewhere {};

/// The table of an index in other partitions: `in_table<by_club>{store, "clubs"}`.
template <class Index>
struct in_table {
    using index_type = Index; ///< the index

    any_store through; ///< any type; may differ from the type in the entities
    std::string name;  ///< may be the entities' table if literals distinguish their keys
};

namespace detail {

/// The properties of a declaration.
template <class Declared>
struct index_declaration {
    using index = Declared;
    static constexpr bool is_unique = false;
    static constexpr bool is_elsewhere = false;
};
template <class Index>
struct index_declaration<unique<Index>> : index_declaration<Index> {
    static constexpr bool is_unique = true;
};
template <class Index>
struct index_declaration<elsewhere<Index>> : index_declaration<Index> {
    static constexpr bool is_elsewhere = true;
};

template <class Declared>
using index_of = typename index_declaration<Declared>::index;

/// Whether a list of components or properties contains a member.
template <auto Wanted, auto Member>
[[nodiscard]] constexpr bool is_same_member() noexcept {
    if constexpr (is_changed<Member>) {
        return is_same_member<Wanted, std::remove_cv_t<decltype(Member)>::pointer>();
    } else if constexpr (is_changed<Wanted>) {
        return is_same_member<std::remove_cv_t<decltype(Wanted)>::pointer, Member>();
    } else if constexpr (std::is_same_v<decltype(Wanted), decltype(Member)>) {
        return Wanted == Member;
    } else {
        return false;
    }
}
template <auto Wanted, class... Components>
[[nodiscard]] constexpr bool is_component(components<void, Components...>) noexcept {
    return (is_same_member<Wanted, Components::member>() || ...);
}
template <auto Wanted, auto... Members>
[[nodiscard]] constexpr bool is_property(members<0, Members...>) noexcept {
    return (is_same_member<Wanted, Members>() || ...);
}
template <class Index, auto Wanted>
inline constexpr bool index_key_has = is_component<Wanted>(typename mapping<Index>::partition_components{}) ||
    is_component<Wanted>(typename mapping<Index>::row_components{});
template <class Index, auto Wanted>
inline constexpr bool index_has =
    index_key_has<Index, Wanted> || is_property<Wanted>(typename mapping<Index>::properties{});

template <class Index, bool KeyOnly, class... Components>
[[nodiscard]] constexpr bool names_all(components<void, Components...>) noexcept {
    return (
        ((KeyOnly && index_key_has<Index, Components::member>) || (!KeyOnly && index_has<Index, Components::member>)) &&
        ...);
}
/// Whether a row of the index identifies its entity.
template <class Index, class Entity, bool Unique>
inline constexpr bool names_its_entity = names_all<Index, !Unique>(typename mapping<Entity>::partition_components{}) &&
    names_all<Index, !Unique>(typename mapping<Entity>::row_components{});

/// Whether two keys consist of the same members, in the same order.
template <class... Ones, class... Others>
[[nodiscard]] constexpr bool same_members(components<void, Ones...>, components<void, Others...>) noexcept {
    if constexpr (sizeof...(Ones) == sizeof...(Others)) {
        return (is_same_member<Ones::member, Others::member>() && ...);
    } else {
        return false;
    }
}

/// Reports an error in the declaration of an index in one line.
template <class Entity, class Declared>
consteval void allow_index() {
    using index = index_of<Declared>;
    using how = index_declaration<Declared>;
    static_assert(names_its_entity<index, Entity, how::is_unique>,
        "a row of this index does not identify its entity: the keys of the index must contain every component "
        "of the entity's keys (a unique index may have them as properties)");
    if constexpr (!how::is_elsewhere) {
        static_assert(share_partitions<Entity, index> &&
                same_members(
                    typename mapping<Entity>::partition_components{}, typename mapping<index>::partition_components{}),
            "the partition key of this index differs from that of its entity: declare it as elsewhere<...>");
    }
}

/// Digest of the declaration that an index is built from.
template <class Declared>
[[nodiscard]] std::uint64_t index_definition() noexcept {
    using map = mapping<index_of<Declared>>;
    part_hash made{2};
    add_layout(made, map::partition_layout);
    add_layout(made, map::row_layout);
    made.add(descriptor_of<index_of<Declared>>.view());
    made.add(std::uint64_t{index_declaration<Declared>::is_unique} |
        std::uint64_t{index_declaration<Declared>::is_elsewhere} << 1U);
    return made.value();
}

template <class Entity, class Index>
[[nodiscard]] result<row_keys> owner_of(row_view stored, reading mode) {
    Index found{};
    ENTITABLE_CHECK(from_row(stored, found, mode));
    Entity const& entity = found;
    ENTITABLE_TRY(auto partition, partition_key_of(entity));
    ENTITABLE_TRY(auto row, row_key_of(entity));
    return row_keys{std::move(partition), std::move(row)};
}

/// Whether an optional component of a key is absent.
template <class Entity, class... Components>
[[nodiscard]] bool lacks_component([[maybe_unused]] Entity const& entity, components<void, Components...>) noexcept {
    [[maybe_unused]] auto const lacks = []<class T>(T const& value) {
        if constexpr (property_shape<T>::optional) {
            return !value.has_value();
        } else {
            return false;
        }
    };
    return (lacks(entity.*Components::member) || ...);
}

/// Whether an optional component of the keys is absent: the entity has no row in this index.
template <class Index>
[[nodiscard]] bool lacks_key_component(Index const& one) noexcept {
    return lacks_component(one, typename mapping<Index>::partition_components{}) ||
        lacks_component(one, typename mapping<Index>::row_components{});
}

/// Returns the table of each index.
template <class Index, class... Places>
[[nodiscard]] table_core place_of_index(table_core const& main, in_table<Places> const&... places) {
    std::optional<table_core> found;
    [[maybe_unused]] auto const look = [&]<class Place>(in_table<Place> const& one) {
        if constexpr (std::is_same_v<Place, Index>) { found.emplace(one.through, one.name, main.options()); }
    };
    (look(places), ...);
    return found ? *std::move(found) : main;
}

template <class Entity, class Declared>
[[nodiscard]] index_shape shape_of() {
    using index = index_of<Declared>;
    using how = index_declaration<Declared>;
    return {mapping<index>::entity_name, how::is_elsewhere, how::is_unique, index_definition<Declared>(),
        &pattern_of_type<index>, &pattern_of_type<Entity>, &owner_of<Entity, index>, nullptr};
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
