// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Reads the values of some members from a row, and only those: `read_values` for the members that a query selects,
/// `shown_values` for those that a fold uses while the store is being read.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/codec.hpp>

#include <concepts>
#include <type_traits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class T>
inline constexpr bool is_key_field = false;
template <class Entity, key_part Part, class Component>
inline constexpr bool is_key_field<key_field<Entity, Part, Component>> = true;

/// Holds the value of a field.
template <class Field>
struct field_value {
    typename Field::value_type value{};
};

/// Holds the values of a key's components.
template <class Entity, key_part Part, class Components>
struct key_values;

template <class Entity, key_part Part, class... Components>
struct key_values<Entity, Part, components<void, Components...>> : field_value<key_field<Entity, Part, Components>>... {
    [[nodiscard]] bool read(std::string_view key, key_layout layout) {
        if constexpr (is_one_text<Components...>) {
            if (layout.size() == 1) {
                (assign_text(static_cast<field_value<key_field<Entity, Part, Components>>&>(*this).value, key), ...);
                return true;
            }
        }
        key_target const targets[] = {
            target_of<typename Components::codec>(
                static_cast<field_value<key_field<Entity, Part, Components>>&>(*this).value)...,
            key_target{}};
        return read_key(key, layout, targets);
    }
};

/// The value of a selected field; fields of the keys are in `key_values`.
template <class Field>
struct selected_value : field_value<Field> {};
template <class Entity, key_part Part, class Component>
struct selected_value<key_field<Entity, Part, Component>> {};

/// Stored name of a property.
template <class Entity, class Field, auto... Members>
[[nodiscard]] constexpr std::string_view name_of_property(members<0, Members...>) noexcept {
    std::size_t index = 1;
    bool found = false;
    ((found = found || std::is_same_v<Field, property_field<Entity, Members>>, index += found ? 0U : 1U), ...);
    return mapping<Entity>::property_names[index];
}

/// Registers the target of a selected property; fields of a key already have their values.
template <class Entity, auto Member, class Value>
void add_target([[maybe_unused]] row_view const& row, value_target*& target, std::string_view*& name,
    property_field<Entity, Member> field, Value& to) {
    constexpr std::string_view stored =
        name_of_property<Entity, decltype(field)>(typename mapping<Entity>::properties{});
    if constexpr (is_changed<Member>) {
        *target++ = {&to.value, &take_changed<member_type<Member>, history_of<Member>>};
        property_finder properties{row};
        *name++ = name_in_row(properties, stored, history_of<Member>::former);
    } else {
        *target++ = target_for(to.value);
        *name++ = stored;
    }
}
template <class Entity, key_part Part, class Component, class Value>
void add_target(row_view const&, value_target*&, std::string_view*&, key_field<Entity, Part, Component>, Value&) {}

/// Sets a selected field that is missing in the row to its default in a new entity.
template <class Entity, auto Member, class Value>
void begin_with(Entity const& fresh, property_field<Entity, Member>, Value& to) {
    to.value = read_member<Member>(fresh);
}
template <class Entity, key_part Part, class Component, class Value>
void begin_with(Entity const&, key_field<Entity, Part, Component>, Value&) {}

/// Reads the next value, or adds its size to the bytes to skip.
template <class Field, bool Wanted, class Values>
void take_or_pass(value_reader& reader, std::size_t& passed, Values& to, std::size_t index) {
    using type = typename Field::value_type;
    constexpr described_property described_as = described<type>;
    if constexpr (Wanted) {
        reader.pass(std::exchange(passed, 0));
        auto& value = static_cast<selected_value<Field>&>(to).value;
        if constexpr (is_plain<type>) {
            reader.take(value);
        } else {
            reader.take(target_for(value), described_as, index);
        }
    } else {
        if constexpr (described_as.nullable) {
            reader.pass(std::exchange(passed, 0));
            if (!reader.take_presence(row_format::fixed_size(described_as.type))) { return; }
        }
        if constexpr (row_format::has_length(described_as.type)) {
            reader.pass_with_text(std::exchange(passed, 0));
        } else {
            passed += row_format::fixed_size(described_as.type);
        }
    }
}

template <class Entity, class... Fields, class Values, auto... Members>
[[nodiscard]] result<void> read_in_order(row_view const& row, Values& to, members<0, Members...>) {
    value_reader reader{row.payload, descriptor_of<Entity>.view().size(), descriptor_of<Entity>.least};
    std::size_t passed = 0;
    std::size_t index = 0;
    (take_or_pass<property_field<Entity, Members>, is_one_of<property_field<Entity, Members>, Fields...>>(
         reader, passed, to, index++),
        ...);
    reader.pass(passed);
    return reader.finish(std::data(mapping<Entity>::property_names) + 1, mapping<Entity>::entity_name);
}

/// Fills the values of these fields, which are bases of `to`. Other properties may be missing.
template <class Entity, class... Fields, class Values>
[[nodiscard]] result<void> read_values(row_view const& row, Values& to, reading mode) {
    if constexpr (!has_parts<typename mapping<Entity>::properties>) {
        if (has_descriptor(row.payload, descriptor_of<Entity>.view(), descriptor_of<Entity>.least)) {
            return read_in_order<Entity, Fields...>(row, to, typename mapping<Entity>::properties{});
        }
    }
    value_target targets[sizeof...(Fields)]{}; // fields of keys use no target
    std::string_view names[sizeof...(Fields)];
    value_target* target = targets;
    std::string_view* name = names;
    (add_target(row, target, name, Fields{}, static_cast<selected_value<Fields>&>(to)), ...);
    return decode_by_name(row, targets, names, static_cast<std::size_t>(target - targets),
        mode == reading::strict ? reading::standard : mode, mapping<Entity>::entity_name);
}

// ---- types that may be read while a store is being read ----

/// Whether reading a key component, or a property, of this type runs no user code.
template <class Codec>
inline constexpr bool is_codec_of_library = false;
template <class T>
inline constexpr bool is_codec_of_library<key_codec<T>> = key_integer<T> || is_plain<T>;
template <class T>
inline constexpr bool is_codec_of_library<key_codec<std::optional<T>>> = is_codec_of_library<key_codec<T>>;
template <class T, std::size_t Digits>
inline constexpr bool is_codec_of_library<width_codec<T, Digits>> = true;
template <class T>
inline constexpr bool is_codec_of_library<descending_codec<T>> = true;
template <class T, std::size_t Digits>
inline constexpr bool is_codec_of_library<descending_width_codec<T, Digits>> = true;
template <class T>
inline constexpr bool is_codec_of_library<escaped_codec<T>> = true;

template <class T>
inline constexpr bool is_property_of_library = is_plain<T> || std::same_as<T, binary>;
template <class T>
inline constexpr bool is_property_of_library<std::optional<T>> = is_property_of_library<T>;

template <class Field>
inline constexpr bool is_field_of_library = is_property_of_library<typename Field::value_type>;
template <class Entity, auto Member>
    requires is_changed<Member>
inline constexpr bool is_field_of_library<property_field<Entity, Member>> = false; // may call the user's function
template <class Entity, key_part Part, class Component>
inline constexpr bool is_field_of_library<key_field<Entity, Part, Component>> =
    is_codec_of_library<typename Component::codec>;

template <class... Components>
[[nodiscard]] constexpr bool are_codecs_of_library(components<void, Components...>) noexcept {
    return (is_codec_of_library<typename Components::codec> && ...);
}
template <class Entity>
inline constexpr bool are_keys_of_library = are_codecs_of_library(typename mapping<Entity>::partition_components{}) &&
    are_codecs_of_library(typename mapping<Entity>::row_components{});

template <auto Member>
inline constexpr bool is_member_of_library =
    std::is_member_pointer_v<decltype(Member)> && is_property_of_library<member_type<Member>>;
template <auto... Members>
[[nodiscard]] constexpr bool are_members_of_library(members<0, Members...>) noexcept {
    return (is_member_of_library<Members> && ...);
}

/// Whether reading a row into a `Row` runs no user code, which might call the store: then it may run while the store is being read. The
/// default of a member may come from user code, unless that code is noexcept, which code that calls a store is not.
template <class Row>
inline constexpr bool is_read_by_library = false;
template <mapped_entity Entity>
inline constexpr bool is_read_by_library<Entity> =
    std::is_aggregate_v<Entity> && std::is_nothrow_default_constructible_v<Entity> && are_keys_of_library<Entity> &&
    are_members_of_library(typename mapping<Entity>::properties{});

/// The values of some fields of an entity, like `selected`, without its version; reads a key only if one of its fields is needed or if not
/// every text is a valid key.
template <class Entity, class... Fields>
class shown_values : key_values<Entity, key_part::partition, typename mapping<Entity>::partition_components>,
                     key_values<Entity, key_part::row, typename mapping<Entity>::row_components>,
                     selected_value<Fields>... {
    using map = mapping<Entity>;
    using partition_values = key_values<Entity, key_part::partition, typename map::partition_components>;
    using row_values = key_values<Entity, key_part::row, typename map::row_components>;
    template <class E, class... Of, class Values>
    friend result<void> read_values(row_view const&, Values&, reading);
    template <class Field, bool Wanted, class Values>
    friend void take_or_pass(value_reader&, std::size_t&, Values&, std::size_t);

    template <key_part Part, class... Components>
    [[nodiscard]] static constexpr bool looks_at(key_layout layout, components<void, Components...> all) noexcept {
        return !takes_every_text(layout, all) || (is_one_of<key_field<Entity, Part, Components>, Fields...> || ...);
    }

public:
    /// Whether `read` uses the row key.
    static constexpr bool reads_row_key = looks_at<key_part::row>(map::row_layout, typename map::row_components{});

    template <class Field>
    [[nodiscard]] auto const& operator[](Field) const noexcept {
        return static_cast<field_value<Field> const&>(*this).value;
    }

    /// Sets the members to the defaults of the entity, for lenient reading.
    void begin() {
        Entity const fresh{};
        (begin_with(fresh, Fields{}, static_cast<selected_value<Fields>&>(*this)), ...);
    }
    [[nodiscard]] result<void> read(row_view const& row, reading mode) {
        if (looks_at<key_part::partition>(map::partition_layout, typename map::partition_components{}) &&
            !partition_values::read(row.partition_key, map::partition_layout)) {
            return key_mismatch(map::entity_name, key_part::partition, row.partition_key);
        }
        if (reads_row_key && !row_values::read(row.row_key, map::row_layout)) {
            return key_mismatch(map::entity_name, key_part::row, row.row_key);
        }
        return read_values<Entity, Fields...>(row, *this, mode);
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
