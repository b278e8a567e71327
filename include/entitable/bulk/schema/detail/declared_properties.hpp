// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The properties that an entity type declares, as plain data: names, types, and whether a value fits the member.

#include <entitable/client/mapping/codec.hpp>

#include <cstddef>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A property as it is stored. A member in parts has several.
struct declared_property {
    std::string_view name;
    std::string_view suffix;
    described_property described{};
    bool (*take)(void* entity, value_view const* value){}; ///< whether the value fits; null for a part of a member
    former_property const* former{};                       ///< earlier form of the property; null if there is none
    bool is_former_name{}; ///< this is the former name of the member whose current name precedes it in the list

    [[nodiscard]] std::string full_name() const { return std::string{name}.append(suffix); }
    [[nodiscard]] bool is_called(std::string_view other) const noexcept {
        return other.size() == name.size() + suffix.size() && other.starts_with(name) && other.ends_with(suffix);
    }
};

/// The properties of an entity type.
struct declared_properties {
    declared_property const* first;
    std::size_t count;
    std::string_view entity;

    [[nodiscard]] declared_property const& operator[](std::size_t index) const noexcept { return first[index]; }
    /// Index of the property with this name; `count` if there is none. `expected` is the first that is compared.
    [[nodiscard]] std::size_t find(std::string_view name, std::size_t expected = 0) const noexcept {
        if (expected < count && first[expected].is_called(name)) { return expected; }
        std::size_t index = 0;
        while (index < count && !first[index].is_called(name)) { ++index; }
        return index;
    }
};

template <class Entity, auto Member>
[[nodiscard]] bool take_declared(void* entity, value_view const* value) {
    value_target const to = target_of_property(*static_cast<Entity*>(entity), Member);
    return to.take(to.to, value);
}

template <class Entity, auto Member>
constexpr void declare_property(declared_property*& to, std::string_view name) {
    auto part = [&](std::string_view base, std::string_view suffix, described_property described_as) {
        if constexpr (is_in_parts<Member>) {
            *to++ = {base, suffix, described_as, nullptr};
        } else if constexpr (is_changed<Member>) {
            *to++ = {base, suffix, described_as, &take_declared<Entity, Member>, &former_of<Member>, base != name};
        } else {
            *to++ = {base, suffix, described_as, &take_declared<Entity, Member>};
        }
    };
    each_part_of<Member>(name, part);
}
template <class Entity, auto... Members>
constexpr void declare_properties([[maybe_unused]] declared_property* to, members<0, Members...>) {
    [[maybe_unused]] std::size_t index = 1;
    (declare_property<Entity, Members>(to, mapping<Entity>::property_names[index++]), ...);
}
template <auto... Members>
[[nodiscard]] constexpr std::size_t count_declared(members<0, Members...>) noexcept {
    return (std::size_t{0} + ... + parts_of_member<Members>);
}

template <class Entity>
struct properties_of_entity {
    using properties = typename mapping<Entity>::properties;
    static constexpr std::size_t count = count_declared(properties{});

    struct list {
        declared_property all[count == 0 ? 1 : count];
    };
    static constexpr list made = [] {
        list filled{};
        declare_properties<Entity>(filled.all, properties{});
        return filled;
    }();

    static constexpr declared_properties declared{made.all, count, mapping<Entity>::entity_name};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
