// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Converts the members of an entity that are parts of its keys to the texts of keys, and back.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/detail/descriptor.hpp>
#include <entitable/client/mapping/detail/key_from.hpp>
#include <entitable/client/mapping/detail/value_reader.hpp>
#include <entitable/client/mapping/mapping.hpp>
#include <entitable/core/row/row.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Parses the text of a value. This is one function for all components of a codec, in any entity.
template <class Codec, class T>
[[nodiscard]] bool parse_value(std::string_view text, void* to) {
    return Codec::parse(text, *static_cast<T*>(to));
}
/// Makes the source of a component's value for `write_key`.
template <class Codec, class T>
[[nodiscard]] key_source member_source(T const& value) noexcept {
    return {&value, &append_value<Codec, T>};
}
template <class Codec, class T>
[[nodiscard]] key_target target_of(T& value) noexcept {
    return {&value, &parse_value<Codec, T>};
}

template <class Entity, class... Components>
[[nodiscard]] result<std::string> encode_key(Entity const& entity, key_layout layout, components<void, Components...>) {
    key_source const values[] = {
        member_source<typename Components::codec>(entity.*Components::member)..., key_source{}};
    return write_key(layout, values);
}

/// Reads both keys of a row, each into one value per component that is a member. Errors: RowMismatch names the entity.
ENTITABLE_LAZY [[nodiscard]] result<void> read_both_keys(
    row_view const& row, entity_layout const& of, key_target const* partition, key_target const* row_key);

template <class Entity, class... P, class... R>
[[nodiscard]] result<void> decode_keys(
    row_view const& row, Entity& out, components<void, P...>, components<void, R...>) {
    using map = mapping<Entity>;
    if constexpr (takes_every_text(map::partition_layout, components<void, P...>{}) &&
        takes_every_text(map::row_layout, components<void, R...>{})) {
        (assign_text(out.*P::member, row.partition_key), ...);
        (assign_text(out.*R::member, row.row_key), ...);
        return {};
    } else {
        key_target const partition[] = {target_of<typename P::codec>(out.*P::member)..., key_target{}};
        key_target const row_key[] = {target_of<typename R::codec>(out.*R::member)..., key_target{}};
        return read_both_keys(row, layout_of_entity<Entity>, partition, row_key);
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
