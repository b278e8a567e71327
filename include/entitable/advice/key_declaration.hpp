// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `key_declaration`: the members that make the keys, as a value: the keys of a type, `declaration_of<E>()`, or hypothetical keys.

#include <entitable/client/mapping/mapping.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// A member in a key, or constant text.
struct declared_component {
    std::string member;      ///< name of the member; the text of a literal
    bool literal{};          ///< set for constant text
    bool ordered{true};      ///< whether a range of its values is a range of keys
    bool descending{};       ///< the greatest value comes first
    bool text{};             ///< set for unescaped text: ordered only as the last component of its key
    bool escaped{};          ///< set for escaped text: ordered in every position
    std::uint32_t buckets{}; ///< if more than 0, the number of the bucket precedes the value

    friend bool operator==(declared_component const&, declared_component const&) = default;
};

/// The keys of a table.
struct key_declaration {
    std::string entity;                        ///< the type, as readable text
    std::vector<declared_component> partition; ///< components of the PartitionKey; if none, the partition is constant
    std::vector<declared_component> row;       ///< components of the RowKey

    /// Returns the keys as in the source: `partition_key(authors), row_key(year, id)`.
    [[nodiscard]] std::string to_string() const;

    friend bool operator==(key_declaration const&, key_declaration const&) = default;
};

namespace detail {

template <class Component, bool Last>
void describe_component(std::vector<declared_component>& out, key_component const& described) {
    using codec = typename Component::codec;
    declared_component made;
    made.member = described.name;
    made.ordered = codec::ordered && (!codec::variable || Last);
    made.descending = codec::reversed;
    made.text = codec::variable && codec::ordered;
    made.escaped = codec::escaped;
    made.buckets = Component::buckets;
    out.push_back(std::move(made));
}

template <class... Components>
[[nodiscard]] std::vector<declared_component> describe(key_layout layout, components<void, Components...>) {
    constexpr bool last_is_text = true;
    std::vector<declared_component> members;
    [[maybe_unused]] std::size_t index = 0;
    [[maybe_unused]] auto const add = [&]<class Component>() {
        std::size_t const at = position_in(layout, index++);
        at + 1 == layout.size() ? describe_component<Component, last_is_text>(members, layout[at])
                                : describe_component<Component, !last_is_text>(members, layout[at]);
    };
    (add.template operator()<Components>(), ...);
    std::vector<declared_component> out;
    std::size_t next = 0;
    for (key_component const& each : layout) {
        if (each.literal()) {
            declared_component made;
            made.member = each.name;
            made.literal = true;
            out.push_back(std::move(made));
        } else if (each.is == key_component::kind::member) {
            out.push_back(std::move(members[next++]));
        }
    }
    return out;
}

} // namespace detail

/// Returns the keys of a type declared by ENTITABLE.
template <mapped_entity Entity>
[[nodiscard]] key_declaration declaration_of() {
    using map = mapping<Entity>;
    return {std::string{map::entity_name},
        detail::describe(map::partition_layout, typename map::partition_components{}),
        detail::describe(map::row_layout, typename map::row_components{})};
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/key_declaration.ipp>
#endif
