// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Entities, results and values of the library as text: `to_text`, `<<` for streams and test frameworks, `std::format`.
///
///     std::cout << runners.get("Boston", 12).value();     // runner{race: "Boston", bib: 12, name: "Ann", hours: absent}
///     std::cout << runners.insert(ann);                    // error: EntityAlreadyExists (409): ...
///
/// An entity is printed from its declaration: the components of its keys, its properties, and its version if it was read. Texts are
/// escaped; long texts are cut, and their size follows. The output is for people, and its form may change. It contains user data, except
/// that the text of an error never contains `detail`. Types that hold a secret cannot be printed.
///
/// A stream finds `<<` in the namespace in which ENTITABLE is written, for the entities and the named enumerations of that namespace, and
/// for optionals of them. Your own operator for a type is preferred. Included by no other header.

#include <entitable/client/mapping/entity.hpp>
#include <entitable/client/query.hpp>
#include <entitable/client/stored.hpp>
#include <entitable/client/update_options.hpp>
#include <entitable/core/printing.hpp>
#include <entitable/core/row/printed.hpp>

#include <iterator>
#include <ostream>
#include <sstream>
#include <tuple>
#include <utility>
#include <version>
#if defined(__cpp_lib_format)
#include <format>
#endif

ENTITABLE_BEGIN_NAMESPACE
/// \cond
namespace printing {

/// Whether the type itself was declared as an entity, and not only its base class.
template <class T>
concept declared_entity = std::is_class_v<T> && mapped_entity<T> &&
    std::is_same_v<typename decltype(entitable_mapping_of(static_cast<T const*>(nullptr)))::entitable_entity, T>;

/// Whether `to_string` makes the text, as for enumerations and reports of the library.
template <class T>
concept has_to_string = type_of_library<T> && ((std::is_enum_v<T> && requires(T const& value) {
    { to_string(value) } -> std::convertible_to<std::string_view>;
}) || (std::is_class_v<T> && requires(T const& value) {
    { value.to_string() } -> std::same_as<std::string>;
}));

/// The keys of a row: `reference<E>`, `row_keys`.
template <class T>
concept two_keys = type_of_library<T> && std::is_class_v<T> && requires(T const& value) {
    { value.partition_key } -> std::convertible_to<std::string_view>;
    { value.row_key } -> std::convertible_to<std::string_view>;
};

template <class T>
inline constexpr bool is_printed = declared_entity<T> || named_enumeration<T> || has_to_string<T> || two_keys<T>;
template <>
inline constexpr bool is_printed<etag> = true;
template <>
inline constexpr bool is_printed<row> = true;
template <>
inline constexpr bool is_printed<value_view> = true;
template <>
inline constexpr bool is_printed<entity> = true;
template <>
inline constexpr bool is_printed<written> = true;
template <class T>
inline constexpr bool is_printed<result<T>> = true;
template <class Entity>
inline constexpr bool is_printed<stored<Entity>> = is_printed<Entity>;
template <class Entity>
inline constexpr bool is_printed<updated<Entity>> = is_printed<Entity>;
template <class Entity, class... Fields>
inline constexpr bool is_printed<selected<Entity, Fields...>> = true;
template <class Entity, access_path Path, class Row>
inline constexpr bool is_printed<query<Entity, Path, Row>> = true;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// Whether a stream prints the T that an optional holds.
template <class T>
inline constexpr bool is_printed_optional = false;
template <class T>
inline constexpr bool is_printed_optional<std::optional<T>> = is_printed<T>;

} // namespace printing
/// \endcond

/// Whether `<<` and `std::format` print a T: entities, named enumerations, and the values of the library without secrets.
template <class T>
concept printed = printing::is_printed<T>;

/// \cond
namespace printing {

template <class T>
void append(std::string& out, T const& value);
/// Stands for a value of a type without a text.
inline constexpr std::string_view no_text = "...";

/// Writes `name: value` between commas.
struct list {
    std::string& out;
    bool first{true};

    template <class T>
    void add(std::string_view name, T const& value) {
        if (!first) { out += ", "; }
        first = false;
        out.append(name).append(": ");
        append(out, value);
    }
};

template <class Entity, key_part Part, class... Components, class Value>
void add_components(list& to, components<void, Components...>, Value const& value) {
    constexpr key_layout layout = Part == key_part::partition ? key_layout{mapping<Entity>::partition_layout}
                                                              : key_layout{mapping<Entity>::row_layout};
    [[maybe_unused]] std::size_t index = 0;
    (to.add(layout[position_in(layout, index++)].name, value(static_cast<Components const*>(nullptr))), ...);
}
template <class Entity, auto... Members>
void add_properties(list& to, Entity const& entity, members<0, Members...>) {
    [[maybe_unused]] std::size_t index = 1;
    (to.add(mapping<Entity>::property_names[index++], detail::read_member<Members>(entity)), ...);
}
/// Adds a member that is set when the entity is read, unless the entity was not read.
inline void add_system(list& to, etag const& version) {
    if (!version.empty()) { to.add("etag", version); }
}
inline void add_system(list& to, date_time timestamp) {
    if (timestamp != date_time{}) { to.add("timestamp", timestamp); }
}
template <class Entity, auto... Members>
void add_all_system([[maybe_unused]] list& to, [[maybe_unused]] Entity const& entity, members<0, Members...>) {
    (add_system(to, entity.*Members), ...);
}

template <class Entity>
void append_entity(std::string& out, Entity const& entity) {
    using map = mapping<Entity>;
    out.append(map::entity_name).append("{");
    list to{out};
    auto const component = [&]<class Component>(
                               Component const*) -> decltype(auto) { return (entity.*Component::member); };
    add_components<Entity, key_part::partition>(to, typename map::partition_components{}, component);
    add_components<Entity, key_part::row>(to, typename map::row_components{}, component);
    add_properties(to, entity, typename map::properties{});
    add_all_system(to, entity, typename map::system_members{});
    out += '}';
}

/// Adds a property if the query selected it.
template <auto Member, class Entity, class... Fields>
void add_selected(list& to, selected<Entity, Fields...> const& row, std::string_view name) {
    using field = property_field<Entity, Member>;
    if constexpr ((std::is_same_v<field, Fields> || ...)) { to.add(name, row[field{name}]); }
}
template <class Entity, class... Fields, auto... Members>
void add_all_selected([[maybe_unused]] list& to, selected<Entity, Fields...> const& row, members<0, Members...>) {
    [[maybe_unused]] std::size_t index = 1;
    (add_selected<Members>(to, row, mapping<Entity>::property_names[index++]), ...);
}
template <key_part Part, class Entity, class... Fields>
void add_key_of(list& to, selected<Entity, Fields...> const& row) {
    add_components<Entity, Part>(to, typename mapping<Entity>::template components_of<Part>{},
        [&]<class Component>(Component const*) -> auto& { return row[key_field<Entity, Part, Component>{}]; });
}

template <class Entity, class... Fields>
void append_special(std::string& out, selected<Entity, Fields...> const& row) {
    out.append(mapping<Entity>::entity_name).append("{");
    list to{out};
    add_key_of<key_part::partition>(to, row);
    add_key_of<key_part::row>(to, row);
    add_all_selected(to, row, typename mapping<Entity>::properties{});
    out += '}';
}
inline void append_special(std::string& out, etag const& version) {
    if (version.empty()) {
        out += "no etag";
    } else {
        out += version.to_string();
    }
}
inline void append_special(std::string& out, row const& row) { append_printed(out, row.view()); }
inline void append_special(std::string& out, row_view const& row) { append_printed(out, row); }
inline void append_special(std::string& out, value_view value) { append_printed(out, value); }
inline void append_special(std::string& out, value const& value) { append_printed(out, value.view()); }
inline void append_special(std::string& out, entity const& entity) { append_printed(out, entity.to_row().view()); }
inline void append_special(std::string& out, date_time time) { time.append_to(out, true); }
template <class Entity>
void append_special(std::string& out, stored<Entity> const& read) {
    out += "stored{";
    list to{out};
    to.add("entity", read.entity);
    add_system(to, read.etag);
    add_system(to, read.timestamp);
    if (read.stale) { to.add("stale", true); }
    out += '}';
}
inline void append_special(std::string& out, written const& write) {
    out += "written{";
    list to{out};
    add_system(to, write.etag);
    if (write.after_retry) { to.add("after_retry", true); }
    out += '}';
}
template <class Entity>
void append_special(std::string& out, updated<Entity> const& update) {
    out += "updated{";
    list to{out};
    to.add("entity", update.entity);
    add_system(to, update.etag);
    out += '}';
}
template <class... Parts>
void append_special(std::string& out, std::tuple<Parts...> const& parts) {
    out += '(';
    std::apply(
        [&](auto const&... part) {
            [[maybe_unused]] std::size_t index = 0;
            ((out += index++ == 0 ? "" : ", ", append(out, part)), ...);
        },
        parts);
    out += ')';
}
template <class First, class Second>
void append_special(std::string& out, std::pair<First, Second> const& both) {
    append_special(out, std::tie(both.first, both.second));
}
template <class T>
void append_special(std::string& out, result<T> const& outcome) {
    if (!outcome) {
        out.append("error: ").append(outcome.error().to_string());
    } else if constexpr (std::is_void_v<T>) {
        out += "OK";
    } else if constexpr (std::is_same_v<T, std::string>) { // may be a signature, which is a secret
        out.append("a text of ").append(std::to_string(outcome->size())).append(" bytes");
    } else {
        std::string text;
        append(text, *outcome);
        out += text == no_text ? "OK" : text;
    }
}
template <class Entity, access_path Path, class Row>
void append_special(std::string& out, query<Entity, Path, Row> const& printed) {
    append(out, printed.explain());
}
template <class T>
void append_special(std::string& out, std::optional<T> const& value) {
    if (value) {
        append(out, *value);
    } else {
        out += "absent";
    }
}
inline void append_special(std::string& out, binary const& bytes) {
    append_hexadecimal(out, {reinterpret_cast<char const*>(bytes.data()), bytes.size()});
}

/// Elements of a range that are printed.
inline constexpr std::size_t max_printed_elements = 8;

template <class Range>
void append_elements(std::string& out, Range const& range) {
    out += '[';
    std::size_t count = 0;
    for (auto const& element : range) {
        if (count < max_printed_elements) {
            if (count != 0) { out += ", "; }
            append(out, element);
        }
        ++count;
    }
    if (count > max_printed_elements) { out.append(", ... (").append(std::to_string(count)).append(" elements)"); }
    out += ']';
}

/// Appends the text of a value of any type, including types that `<<` does not print here.
template <class T>
void append(std::string& out, T const& value) {
    if constexpr (declared_entity<T>) {
        append_entity(out, value);
    } else if constexpr (named_enumeration<T>) {
        std::string_view const name = name_of(value);
        out += name.empty() ? std::to_string(static_cast<long long>(value)) : std::string{name};
    } else if constexpr (requires { append_special(out, value); } && !std::is_arithmetic_v<T> && !std::is_enum_v<T> &&
        !std::is_convertible_v<T const&, std::string_view>) {
        append_special(out, value);
    } else if constexpr (two_keys<T>) {
        append_printed_keys(out, value.partition_key, value.row_key);
    } else if constexpr (has_to_string<T> && std::is_enum_v<T>) {
        out += to_string(value);
    } else if constexpr (has_to_string<T>) {
        out += value.to_string();
    } else if constexpr (std::is_same_v<T, bool>) {
        out += value ? "true" : "false";
    } else if constexpr (std::is_floating_point_v<T>) {
        append_printed(out, value_view{static_cast<double>(value)});
    } else if constexpr (std::is_same_v<T, char>) {
        append_quoted(out, {&value, 1});
    } else if constexpr (std::is_integral_v<T>) {
        out += std::to_string(value);
    } else if constexpr (std::is_convertible_v<T const&, std::string_view>) {
        append_quoted(out, value);
    } else if constexpr (requires(std::ostream& stream) { stream << value; }) {
        std::ostringstream stream;
        stream << value;
        out += stream.str();
    } else if constexpr (std::is_enum_v<T>) {
        append(out, static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (property_value<T>) {
        append_printed(out, property_type<T>::view(value));
    } else if constexpr (key_value<T>) {
        if (!key_codec<T>::append(out, value)) { out += '?'; }
    } else if constexpr (requires { std::begin(value) != std::end(value); }) {
        append_elements(out, value);
    } else {
        out += no_text;
    }
}

template <class T>
struct text_maker {
    static std::string make(T const& value, char*)
        requires(printed<T> || is_printed_optional<T>)
    {
        std::string out;
        append(out, value);
        return out;
    }
};

template <class Character, class Traits, class T>
    requires requires(T const& value, Character* character) { text_maker<T>::make(value, character); }
std::basic_ostream<Character, Traits>& operator<<(std::basic_ostream<Character, Traits>& out, T const& value) {
    return out << text_maker<T>::make(value, static_cast<Character*>(nullptr));
}

} // namespace printing
/// \endcond

/// Returns the text of an entity or a value, like `<<`; also of a `binary`, of an optional, and of a range of printed values, of which the
/// first 8 are shown.
template <class T>
[[nodiscard]] std::string to_text(T const& value) {
    std::string out;
    printing::append(out, value);
    return out;
}

ENTITABLE_END_NAMESPACE

#if defined(__cpp_lib_format)
/// The same text for `std::format`, with the options of a string: `{:>40}`.
template <entitable::printed T>
struct std::formatter<T, char> : std::formatter<std::string_view, char> {
    /// Writes the text.
    template <class Context>
    auto format(T const& value, Context& context) const {
        return std::formatter<std::string_view, char>::format(entitable::to_text(value), context);
    }
};
#if defined(__cpp_lib_format_ranges)
/// A query is a range, but its text is its plan.
template <class Entity, entitable::access_path Path, class Row>
inline constexpr std::range_format std::format_kind<entitable::query<Entity, Path, Row>> = std::range_format::disabled;
#endif
#endif
