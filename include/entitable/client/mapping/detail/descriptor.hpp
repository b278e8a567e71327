// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The descriptor of an entity type's rows (`row_format`), and other facts about the type, as constants.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/detail/parts.hpp>
#include <entitable/client/mapping/mapping.hpp>
#include <entitable/core/row/format.hpp>

#include <array>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The bytes of a descriptor (`row_format`) at compile time.
template <std::size_t Size>
struct descriptor_bytes {
    std::array<char, Size == 0 ? 1 : Size> bytes{};
    std::size_t
        least{}; ///< bytes of values that each row with this descriptor has, without texts; unused with members in parts
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {bytes.data(), Size}; }
};

/// Makes the descriptor of an entity's rows: one constant with which each row begins.
template <class Entity, auto... Members>
[[nodiscard]] constexpr auto make_descriptor(members<0, Members...>) {
    constexpr auto const& names = mapping<Entity>::property_names;
    constexpr std::size_t size = [] {
        std::size_t total = 0;
        for (std::string_view const name : names) { total += 3 + name.size(); }
        return total - 3; // excludes the placeholder
    }();
    constexpr std::array<described_property, sizeof...(Members) + 1> properties{
        described_property{}, described<member_type<Members>>...};
    descriptor_bytes<size> made;
    std::size_t at = 0;
    for (std::size_t index = 1; index < properties.size(); ++index) {
        auto const kind = static_cast<unsigned>(properties[index].type) |
            (properties[index].nullable ? row_format::nullable_bit : 0U);
        made.bytes[at++] = static_cast<char>(static_cast<unsigned char>(kind));
        made.bytes[at++] = static_cast<char>(static_cast<unsigned char>(names[index].size() & 0xFFU));
        made.bytes[at++] = static_cast<char>(static_cast<unsigned char>(names[index].size() >> 8U));
        for (char const character : names[index]) { made.bytes[at++] = character; }
        made.least += properties[index].nullable ? 1U : row_format::fixed_size(properties[index].type);
    }
    return made;
}

/// Does the same if members are stored as several properties.
template <class Entity, auto... Members>
[[nodiscard]] constexpr auto make_descriptor_in_parts(members<0, Members...>) {
    constexpr auto const& names = mapping<Entity>::property_names;
    auto const each = [](auto& part) {
        std::size_t index = 1;
        (each_part_of<Members>(names[index++], part), ...);
    };
    constexpr std::size_t size = [&] {
        std::size_t total = 0;
        auto measure = [&](std::string_view name, std::string_view suffix, described_property) {
            total += 3 + name.size() + suffix.size();
        };
        each(measure);
        return total;
    }();
    descriptor_bytes<size> made;
    std::size_t at = 0;
    auto write = [&](std::string_view name, std::string_view suffix, described_property property) {
        std::size_t const length = name.size() + suffix.size();
        auto const kind = static_cast<unsigned>(property.type) | (property.nullable ? row_format::nullable_bit : 0U);
        for (unsigned const byte : {kind, static_cast<unsigned>(length & 0xFFU), static_cast<unsigned>(length >> 8U)}) {
            made.bytes[at++] = static_cast<char>(static_cast<unsigned char>(byte));
        }
        for (std::string_view const text : {name, suffix}) {
            for (char const character : text) { made.bytes[at++] = character; }
        }
    };
    each(write);
    return made;
}

template <class Entity>
[[nodiscard]] constexpr auto make_any_descriptor() {
    using properties = typename mapping<Entity>::properties;
    if constexpr (has_parts<properties>) {
        return make_descriptor_in_parts<Entity>(properties{});
    } else {
        return make_descriptor<Entity>(properties{});
    }
}

template <class Entity>
inline constexpr auto descriptor_of = make_any_descriptor<Entity>();

/// The facts about an entity type that separately compiled functions need: one constant, and thus one argument in each
/// call.
struct entity_layout {
    std::string_view name;
    key_layout partition_layout;
    key_layout row_layout;
    std::string_view descriptor;
    std::string_view const* names; ///< names of its properties
    std::size_t count;             ///< number of names
};
template <class Entity>
inline constexpr entity_layout layout_of_entity{mapping<Entity>::entity_name, mapping<Entity>::partition_layout,
    mapping<Entity>::row_layout, descriptor_of<Entity>.view(), std::data(mapping<Entity>::property_names) + 1,
    mapping<Entity>::properties::size};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
