// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The columns of an entity as text: the members of its keys, then its properties. A column converts the value of its member to text and
/// back. Code that does not depend on the user's types works on `text_column`.

#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/edm_type.hpp>
#include <entitable/core/result.hpp>

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Result of writing the value of a column.
enum class column_text : std::uint8_t {
    written, ///< the text was appended
    absent,  ///< an optional member without a value
    refused, ///< the value has no text: an enumerator without a name, a time out of range, a text that is not UTF-8
};

/// A column: name, type, and functions for its member in an entity.
struct text_column {
    std::string_view name;
    std::string_view suffix; ///< follows the name; set for half of a reference
    edm_type type{};         ///< decides the form of the text
    bool nullable{};
    bool begins_pair{}; ///< this column and the next are the halves of one member, and are absent together
    column_text (*write)(void const* entity, std::string& out){};
    bool (*read)(void* entity, std::string_view text){}; ///< false: the text is not a value of the member
    void (*clear)(void* entity){};                       ///< sets an optional member to absent; null unless `nullable`

    [[nodiscard]] std::string full_name() const { return std::string{name}.append(suffix); }
    [[nodiscard]] constexpr bool is_called(std::string_view other) const noexcept {
        return other.size() == name.size() + suffix.size() && other.starts_with(name) && other.ends_with(suffix);
    }
    /// Whether JSON writes the value without quotes.
    [[nodiscard]] bool is_number_or_boolean() const noexcept {
        return type == edm_type::int32 || type == edm_type::int64 || type == edm_type::float64 ||
            type == edm_type::boolean;
    }
};

/// The columns of an entity type, as plain data.
struct text_columns {
    text_column const* first;
    std::size_t count;
    std::size_t keys; ///< number of columns of the keys, which are the first
    std::string_view entity;

    [[nodiscard]] text_column const& operator[](std::size_t index) const noexcept { return first[index]; }
    /// Index of the column with this name; `count` if there is none.
    [[nodiscard]] std::size_t find(std::string_view name) const noexcept {
        std::size_t index = 0;
        while (index < count && !first[index].is_called(name)) { ++index; }
        return index;
    }
};

/// Appends the text of a value: numbers in decimal, times and GUIDs as in their `to_string`, a binary in base64.
[[nodiscard]] column_text append_text_of(std::string& out, value_view value);

/// Parses the text of a value of this type. A GUID or a binary is decoded into `bytes`, which the view then borrows.
[[nodiscard]] bool value_of_text(edm_type type, std::string_view text, std::string& bytes, value_view& to);

/// Whether T is an enumeration that can be in a key and not in a property, because a property has no numbers of its size.
template <class T>
inline constexpr bool is_large_enumeration = false;
template <class T>
    requires(std::is_enum_v<T> && !named_enumeration<T>)
inline constexpr bool is_large_enumeration<T> =
    sizeof(T) == sizeof(std::uint64_t) && std::is_unsigned_v<std::underlying_type_t<T>>;

template <class T>
[[nodiscard]] constexpr edm_type type_of_text() noexcept {
    if constexpr (is_large_enumeration<T>) {
        return edm_type::int64;
    } else if constexpr (property_value<T>) {
        return property_type<T>::type;
    } else {
        return key_integer<T> ? edm_type::int64 : edm_type::string;
    }
}

template <class T>
[[nodiscard]] column_text write_text(std::string& out, T const& value) {
    if constexpr (is_large_enumeration<T>) {
        return write_text(out, static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (property_value<T>) {
        if constexpr (named_enumeration<T>) {
            if (name_of(value).empty()) { return column_text::refused; }
        }
        return append_text_of(out, property_type<T>::view(value));
    } else if constexpr (key_integer<T>) {
        char text[24];
        out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
        return column_text::written;
    } else {
        return key_codec<T>::append(out, value) ? column_text::written : column_text::refused;
    }
}
template <class T>
[[nodiscard]] column_text write_text(std::string& out, std::optional<T> const& value) {
    return value ? write_text(out, *value) : column_text::absent;
}

template <class T>
[[nodiscard]] bool read_text(std::string_view text, T& to) {
    if constexpr (is_large_enumeration<T>) {
        std::underlying_type_t<T> number{};
        bool const good = read_text(text, number);
        to = static_cast<T>(number);
        return good;
    } else if constexpr (property_value<T>) {
        std::string bytes;
        value_view value;
        return value_of_text(property_type<T>::type, text, bytes, value) && property_type<T>::assign(to, value);
    } else if constexpr (key_integer<T>) {
        auto const read = std::from_chars(text.data(), text.data() + text.size(), to);
        return read.ec == std::errc{} && read.ptr == text.data() + text.size();
    } else {
        return key_codec<T>::parse(text, to);
    }
}
template <class T>
[[nodiscard]] bool read_text(std::string_view text, std::optional<T>& to) {
    return read_text(text, to.emplace());
}

template <class Entity, auto Member>
[[nodiscard]] column_text write_member_text(void const* entity, std::string& out) {
    return write_text(out, read_member<Member>(*static_cast<Entity const*>(entity)));
}

/// Stores a value in a member, or passes it to the setter.
template <class Entity, class Class, class T>
void store_member(Entity& entity, T Class::* member, T&& value) {
    entity.*member = std::forward<T>(value);
}
template <class Entity, auto Getter, auto Setter, class T>
void store_member(Entity& entity, accessor_pair<Getter, Setter>, T&& value) {
    (entity.*Setter)(std::forward<T>(value));
}
template <class Entity, auto Pointer, class T>
void store_member(Entity& entity, chunked_member<Pointer>, T&& value) {
    entity.*Pointer = std::forward<T>(value);
}

template <class Entity, auto Pointer, class History, class T>
void store_member(Entity& entity, changed_member<Pointer, History>, T&& value) {
    entity.*Pointer = std::forward<T>(value);
}

template <class Entity, auto Member>
[[nodiscard]] bool read_member_text(void* entity, std::string_view text) {
    member_type<Member> value{};
    if (!read_text(text, value)) { return false; }
    store_member(*static_cast<Entity*>(entity), Member, std::move(value));
    return true;
}
template <class Entity, auto Member>
void clear_member(void* entity) {
    store_member(*static_cast<Entity*>(entity), Member, member_type<Member>{});
}

template <class Entity, auto Member,
    std::string reference<typename property_shape<member_type<Member>>::value_type::entity_type>::* Half>
struct reference_half {
    static column_text write(void const* entity, std::string& out) {
        auto const* const named = held_value(static_cast<Entity const*>(entity)->*Member);
        return named == nullptr ? column_text::absent : append_text_of(out, value_view{std::string_view{named->*Half}});
    }
    static bool read(void* entity, std::string_view text) {
        return read_text(text, place_for(static_cast<Entity*>(entity)->*Member).*Half);
    }
};

/// Appends the column of a property, or both columns of a reference.
template <class Entity, auto Member>
constexpr void add_column(text_column*& to, std::string_view name) {
    using type = member_type<Member>;
    using value_type = typename property_shape<type>::value_type;
    constexpr bool nullable = property_shape<type>::optional;
    constexpr auto clear = nullable ? &clear_member<Entity, Member> : nullptr;
    if constexpr (is_reference<Member>) {
        using partition = reference_half<Entity, Member, &value_type::partition_key>;
        using row = reference_half<Entity, Member, &value_type::row_key>;
        *to++ = {name, reference_suffixes[0], edm_type::string, nullable, nullable, &partition::write, &partition::read,
            clear};
        *to++ = {name, reference_suffixes[1], edm_type::string, nullable, false, &row::write, &row::read, clear};
    } else {
        *to++ = {name, {}, type_of_text<value_type>(), nullable, false, &write_member_text<Entity, Member>,
            &read_member_text<Entity, Member>, clear};
    }
}

template <class Entity, class... Components>
constexpr void add_key_columns(
    [[maybe_unused]] text_column*& to, [[maybe_unused]] key_layout layout, components<void, Components...>) {
    [[maybe_unused]] std::size_t nth = 0;
    (add_column<Entity, Components::member>(to, layout[position_in(layout, nth++)].name), ...);
}
template <class Entity, auto... Members>
constexpr void add_property_columns([[maybe_unused]] text_column*& to, members<0, Members...>) {
    [[maybe_unused]] std::size_t index = 1;
    (add_column<Entity, Members>(to, mapping<Entity>::property_names[index++]), ...);
}

template <auto... Members>
[[nodiscard]] constexpr std::size_t count_columns(members<0, Members...>) noexcept {
    return (std::size_t{0} + ... + (is_reference<Members> ? 2U : 1U));
}

/// Whether a property is stored under the name of a member of a key, so that two columns would have one name.
template <class Entity>
[[nodiscard]] constexpr bool has_property_named_like_key(
    text_column const* columns, std::size_t keys, std::size_t count) {
    for (std::size_t key = 0; key < keys; ++key) {
        for (std::size_t index = keys; index < count; ++index) {
            if (columns[index].is_called(columns[key].name)) { return true; }
        }
    }
    return false;
}

template <class Entity>
struct columns_of_entity {
    using map = mapping<Entity>;
    static constexpr std::size_t keys = map::partition_components::size + map::row_components::size;
    static constexpr std::size_t count = keys + count_columns(typename map::properties{});

    struct list {
        text_column columns[count == 0 ? 1 : count];
    };
    static constexpr list all = [] {
        list made{};
        text_column* to = made.columns;
        add_key_columns<Entity>(to, map::partition_layout, typename map::partition_components{});
        add_key_columns<Entity>(to, map::row_layout, typename map::row_components{});
        add_property_columns<Entity>(to, typename map::properties{});
        return made;
    }();
    static_assert(!has_property_named_like_key<Entity>(all.columns, keys, count),
        "a property of this entity is stored under the name of a member of its key: a file would have two columns with "
        "this name");
    static_assert(count != 0, "this entity has no members: a file of it would have no columns");

    static constexpr text_columns columns{all.columns, count, keys, map::entity_name};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/exchange/impl/text_column.ipp>
#endif
