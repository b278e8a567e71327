// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Boost.Hana over entities: each entity is a `hana::Struct`. The core does not include Hana.
///
/// Every type declared with ENTITABLE models `hana::Struct`: its members are the components of its partition key, those of its row key and
/// its properties, in this order, each under its stored name. Members that receive the ETag or the Timestamp are not among them, so
/// `hana::equal` compares stored values. The code for Hana is generated when an algorithm uses it: an entity that no algorithm visits costs
/// no compile time, and an entity that is visited costs 100 to 200 ms.
///
/// ENTITABLE_HANA makes an entity from a struct that is already adapted for Hana (BOOST_HANA_ADAPT_STRUCT or BOOST_HANA_DEFINE_STRUCT). It
/// names only the keys, and all other members are properties:
///
///     ENTITABLE_HANA(registration,
///         partition_key(event, distance),
///         row_key(bib))
///
/// A macro cannot turn the names of the properties into fields, so a predicate names them by pointer instead:
/// `entitable::field_of<&registration::age> >= 50`. Hana's macros take at most 54 members; ENTITABLE does not have this limit.

#include <entitable/client/mapping/hana_macro.hpp>
#include <entitable/client/mapping/mapping.hpp>

#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/core/when.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether two pointers name the same member.
template <auto Left, auto Right>
inline constexpr bool same_member = false;
template <auto Member>
inline constexpr bool same_member<Member, Member> = true;

// ---- an entity as a hana::Struct ----

/// Whether the type itself was declared as an entity, and not only its base class.
template <class T>
concept declared_entity = declares_mapping<T> &&
    std::is_same_v<typename decltype(entitable_mapping_of(static_cast<T const*>(nullptr)))::entitable_entity, T>;

template <class T>
concept defines_accessors = requires { typename T::hana_accessors_impl; };

/// Whether Hana gets the members of T from its mapping. A struct made by BOOST_HANA_DEFINE_STRUCT is not examined further: it may be about
/// to become an entity.
template <class T>
concept hana_entity = !defines_accessors<T> && declared_entity<T>;

/// Returns a member of an entity, or the result of its getter.
template <auto Member>
struct hana_accessor {
    template <class Entity>
    [[nodiscard]] constexpr decltype(auto) operator()(Entity&& entity) const {
        if constexpr (std::is_member_object_pointer_v<decltype(Member)>) {
            return (static_cast<Entity&&>(entity).*Member);
        } else {
            return get(entity, Member);
        }
    }

private:
    template <class Entity, auto Getter, auto Setter>
    [[nodiscard]] static constexpr decltype(auto) get(Entity const& entity, accessor_pair<Getter, Setter>) {
        return (entity.*Getter)();
    }
};

template <class Names, std::size_t Index, std::size_t... At>
[[nodiscard]] constexpr auto hana_name(std::index_sequence<At...>) {
    return boost::hana::string<Names::name(Index)[At]...>{};
}

/// The names of a key's components that are members.
template <class Entity, key_part Part>
struct hana_key_names {
    [[nodiscard]] static constexpr std::string_view name(std::size_t index) noexcept {
        constexpr key_layout layout = Part == key_part::partition ? key_layout{mapping<Entity>::partition_layout}
                                                                  : key_layout{mapping<Entity>::row_layout};
        return layout[position_in(layout, index)].name;
    }
};
template <class Entity>
struct hana_property_names {
    [[nodiscard]] static constexpr std::string_view name(std::size_t index) noexcept {
        return mapping<Entity>::property_names[index + 1];
    }
};

template <class Names, std::size_t Index, auto Member>
using hana_member =
    boost::hana::pair<decltype(hana_name<Names, Index>(std::make_index_sequence<Names::name(Index).size()>{})),
        hana_accessor<Member>>;

template <class Entity, class... P, class... R, auto... Members, std::size_t... H, std::size_t... J, std::size_t... K>
[[nodiscard]] constexpr auto hana_members(components<void, P...>, components<void, R...>, members<0, Members...>,
    std::index_sequence<H...>, std::index_sequence<J...>, std::index_sequence<K...>) {
    return boost::hana::tuple<hana_member<hana_key_names<Entity, key_part::partition>, H, P::member>...,
        hana_member<hana_key_names<Entity, key_part::row>, J, R::member>...,
        hana_member<hana_property_names<Entity>, K, Members>...>{};
}

// ---- a hana::Struct as an entity ----

/// The member of an accessor made by one of Hana's macros.
template <class Accessor>
struct adapted_member {
    static_assert(sizeof(Accessor) == 0,
        "ENTITABLE_HANA: the type must be a struct adapted by BOOST_HANA_ADAPT_STRUCT or BOOST_HANA_DEFINE_STRUCT");
};
template <template <class Pointer, Pointer> class Accessor, class Pointer, Pointer Member>
struct adapted_member<Accessor<Pointer, Member>> {
    static constexpr Pointer pointer = Member;

    template <class... Components>
    static constexpr bool is_among = (same_member<Member, Components::member> || ...);
};

/// Properties and their names.
template <class Members, class... Names>
struct adapted_list {
    using members = Members;
    static constexpr std::string_view names[] = {{}, std::string_view{Names::c_str()}...}; // after a placeholder
};
template <auto... Left, class... LeftNames, auto... Right, class... RightNames>
adapted_list<members<0, Left..., Right...>, LeftNames..., RightNames...> operator+(
    adapted_list<members<0, Left...>, LeftNames...>, adapted_list<members<0, Right...>, RightNames...>);

template <auto Member>
struct stored_member {
    static_assert(property_value<member_type<Member>>,
        "ENTITABLE_HANA: a member that is not part of a key has a type that cannot be stored; the compiler names it");
};
template <auto... Members>
[[nodiscard]] consteval bool all_stored(members<0, Members...>) {
    return ((sizeof(stored_member<Members>) != 0) && ...);
}

/// The properties of an adapted struct: its members except those of the keys.
template <class Accessors, class Partition, class Row>
struct adapted_properties;

template <class... Names, class... Accessors, class... P, class... R>
struct adapted_properties<boost::hana::tuple<boost::hana::pair<Names, Accessors>...>, components<void, P...>,
    components<void, R...>> {
    using type = decltype((adapted_list<members<0>>{} + ... +
        std::conditional_t<adapted_member<Accessors>::template is_among<P..., R...>, adapted_list<members<0>>,
            adapted_list<members<0, adapted_member<Accessors>::pointer>, Names>>{}));
};

template <class Entity>
[[nodiscard]] constexpr auto adapted_accessors() {
    if constexpr (boost::hana::Struct<Entity>::value) {
        return boost::hana::accessors<Entity>();
    } else {
        static_assert(boost::hana::Struct<Entity>::value,
            "ENTITABLE_HANA: the type is not adapted for Hana: write BOOST_HANA_ADAPT_STRUCT before it, or ENTITABLE");
        return boost::hana::tuple<>{};
    }
}

/// Returns the stored name of a property.
template <class Entity, auto Member, auto... Members>
[[nodiscard]] consteval std::string_view name_of_property(members<0, Members...>) {
    std::size_t index = 0;
    bool found = false;
    ((found = found || same_member<Member, Members>, index += found ? 0U : 1U), ...);
    return found ? mapping<Entity>::property_names[index + 1] : std::string_view{};
}

template <class Pointer>
struct class_of_pointer;
template <class Class, class Value>
struct class_of_pointer<Value Class::*> {
    using type = Class;
};

} // namespace detail

/// The field of a property, for predicates: `field_of<&registration::age> >= 50`. Specify the entity if the member belongs to its base
/// class.
template <auto Member, class Entity = typename detail::class_of_pointer<std::remove_cv_t<decltype(Member)>>::type>
inline constexpr property_field<Entity, Member> field_of = [] {
    constexpr std::string_view name = detail::name_of_property<Entity, Member>(typename mapping<Entity>::properties{});
    static_assert(!name.empty(), "field_of<member>: the member is not a property of the entity");
    return property_field<Entity, Member>{name};
}();

ENTITABLE_END_NAMESPACE

/// Accessors of the members, for the algorithms of Hana.
template <class Entity>
struct boost::hana::accessors_impl<Entity, boost::hana::when<entitable::detail::hana_entity<Entity>>> {
    // A template, so that its tuple is made only if it is called.
    template <class = void>
    static constexpr auto apply() {
        using map = entitable::mapping<Entity>;
        return entitable::detail::hana_members<Entity>(typename map::partition_components{},
            typename map::row_components{}, typename map::properties{},
            std::make_index_sequence<map::partition_components::size>{},
            std::make_index_sequence<map::row_components::size>{}, std::make_index_sequence<map::properties::size>{});
    }
};
