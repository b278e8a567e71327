// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `shared_members`: the members whose values all entities of one transaction share: a debit and its credit have the same `tx`.
///
///     load.writes("transfer", {.per_second = 100, .together = &cash::tx});
///     load.writes("transfer", {.per_second = 100, .together = {&cash::day, &cash::number}});

#include <entitable/client/mapping/field.hpp>
#include <entitable/client/mapping/mapping.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <auto Member, class Pointer>
[[nodiscard]] bool is_member(Pointer wanted) noexcept {
    if constexpr (std::is_same_v<std::remove_cv_t<decltype(Member)>, Pointer>) {
        return wanted == Member;
    } else {
        return false;
    }
}
template <class Pointer, class... Components>
[[nodiscard]] std::string_view name_in_key(
    [[maybe_unused]] Pointer wanted, [[maybe_unused]] key_layout layout, components<void, Components...>) {
    std::string_view name;
    [[maybe_unused]] std::size_t nth = 0;
    ((name = is_member<Components::member>(wanted) ? layout[position_in(layout, nth)].name : name, ++nth), ...);
    return name;
}
template <class Pointer, auto... Members>
[[nodiscard]] std::string_view listed_property_name(
    [[maybe_unused]] Pointer wanted, [[maybe_unused]] std::string_view const* names, members<0, Members...>) {
    std::string_view name;
    [[maybe_unused]] std::size_t index = 1; // the first name is a placeholder
    ((name = is_member<Members>(wanted) ? names[index] : name, ++index), ...);
    return name;
}

} // namespace detail

/// Names of members, made from pointers to members or from fields. A plain value.
class shared_members {
public:
    /// No members: nothing is known about the entities that one transaction writes.
    shared_members() = default;
    /// A member of a type with ENTITABLE. `workload::validate` refuses a member that ENTITABLE does not list.
    template <class T, class Entity>
    shared_members(T Entity::* member) { // NOLINT: a conversion
        static_assert(mapped_entity<Entity>,
            "this member is inherited from a type without ENTITABLE: write entitable::fields<E>::member");
        if constexpr (mapped_entity<Entity>) {
            using map = mapping<Entity>;
            std::string_view name =
                detail::name_in_key(member, map::partition_layout, typename map::partition_components{});
            name = name.empty() ? detail::name_in_key(member, map::row_layout, typename map::row_components{}) : name;
            name = name.empty() ? detail::listed_property_name(member, map::property_names, typename map::properties{})
                                : name;
            names_.emplace_back(name);
        }
    }
    /// A member in a key.
    template <class Entity, key_part Part, class Component>
    shared_members(key_field<Entity, Part, Component>) // NOLINT: a conversion
        : shared_members(of_key<Entity, Part>(Component::member)) {}
    /// A property.
    template <class Entity, auto Member>
    shared_members(property_field<Entity, Member> const& member) : names_{std::string{member.name}} {} // NOLINT
    /// Several members, all of whose values are shared.
    shared_members(std::initializer_list<shared_members> all) {
        for (shared_members const& each : all) { names_.insert(names_.end(), each.names_.begin(), each.names_.end()); }
    }
    /// Members that are only known at run time.
    [[nodiscard]] static shared_members named(std::vector<std::string> names) {
        shared_members made;
        made.names_ = std::move(names);
        return made;
    }

    [[nodiscard]] std::vector<std::string> const& names() const noexcept { return names_; } ///< names of the members
    [[nodiscard]] bool empty() const noexcept { return names_.empty(); } ///< whether there are no members

private:
    template <class Entity, key_part Part, class Pointer>
    [[nodiscard]] static shared_members of_key(Pointer member) {
        using map = mapping<Entity>;
        std::string_view const name = Part == key_part::partition
            ? detail::name_in_key(member, map::partition_layout, typename map::partition_components{})
            : detail::name_in_key(member, map::row_layout, typename map::row_components{});
        return named({std::string{name}});
    }

    std::vector<std::string> names_;
};

ENTITABLE_END_NAMESPACE
