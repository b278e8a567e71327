// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Conversion of rows to the results of a query, and the folds of `query` over one field.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/codec.hpp>
#include <entitable/client/row_walk.hpp>
#include <entitable/core/text.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class Row>
[[nodiscard]] result<void> read_selected_row(row_view const& from, void* to, reading mode) {
    if constexpr (requires { static_cast<Row*>(to)->begin(); }) { // `shown_values`
        if (mode == reading::lenient) { static_cast<Row*>(to)->begin(); }
    }
    return static_cast<Row*>(to)->read(from, mode);
}
template <class Entity, class Row>
inline constexpr row_reader read_row = &read_selected_row<Row>;
template <class Entity>
inline constexpr row_reader read_row<Entity, Entity> = &instantiated_entity<Entity>::read;

template <class Row>
[[nodiscard]] void* add_row(void* rows, std::size_t room) {
    auto& all = *static_cast<std::vector<Row>*>(rows);
    if (room > all.capacity() - all.size()) { all.reserve(all.size() + (room > all.size() ? room : all.size())); }
    return &all.emplace_back();
}
/// The function that returns the names of the properties to read; null for whole entities.
template <class Entity, class Row>
inline constexpr projection (*names_of_row_of)() = &Row::names;
template <class Entity>
inline constexpr projection (*names_of_row_of<Entity, Entity>)() = nullptr;

template <class Row>
[[nodiscard]] void* make_row() {
    return new Row{};
}
template <class Row>
void remove_row(void* made) noexcept {
    delete static_cast<Row*>(made);
}
template <class Entity, class Row>
inline constexpr row_kind kind_of_row{read_row<Entity, Row>, &make_row<Row>, &remove_row<Row>};
template <class Entity>
constinit row_kind const instantiated_entity<Entity>::rows{&instantiated_entity<Entity>::read,
    &instantiated_entity<Entity>::make, &instantiated_entity<Entity>::remove,
    !std::is_same_v<typename mapping<Entity>::system_members, members<0>>};
template <class Entity>
inline constexpr row_kind const& kind_of_row<Entity, Entity> = instantiated_entity<Entity>::rows;

template <class Entity>
void* instantiated_entity<Entity>::add(void* entities, std::size_t room) {
    return add_row<Entity>(entities, room);
}
template <class Entity>
void* instantiated_entity<Entity>::make() {
    return make_row<Entity>();
}
template <class Entity>
void instantiated_entity<Entity>::remove(void* made) noexcept {
    remove_row<Entity>(made);
}

/// Reads the rows of a walk into a `Shown` and calls `function` with it: while the store is being read, if `ReadsShown` and the walk allow
/// it. Stops at a row that cannot be read; an error of its page takes precedence.
template <class Shown, bool ReadsShown, class Function>
[[nodiscard]] result<void> fold_shown(row_walk& walk, Function const& function) {
    Shown current{};
    result<void> problem;
    reading const mode = walk.mode();
    auto const look = [&](std::span<row_view const> run) {
        if (!problem) { return; }
        for (std::size_t at = 0; at < run.size(); ++at) {
            fetch_ahead(run, at);
            if (auto read = current.read(run[at], mode); !read) {
                problem = std::move(read);
                return;
            }
            function(std::as_const(current));
        }
    };
    if (ReadsShown && walk.can_read_shown()) {
        return walk.show_rows(look, [&] { return std::exchange(problem, {}); }, {Shown::reads_row_key, false, true});
    }
    while (problem) {
        auto found = walk.next();
        if (!found) { return std::move(found).as_failure(); }
        if (!*found) { break; }
        if (mode == reading::lenient) { current.begin(); }
        look({&**found, 1}); // the only place that reads a row, so that it is compiled into the loop
    }
    return problem;
}

/// Returns the value of a field of an entity, or of the selected members.
template <class Entity, auto Member>
[[nodiscard]] decltype(auto) value_of(Entity const& entity, property_field<Entity, Member>) {
    return read_member<Member>(entity);
}
template <class Entity, key_part Part, class Component>
[[nodiscard]] auto const& value_of(Entity const& entity, key_field<Entity, Part, Component>) {
    return entity.*Component::member;
}
template <class Row, class Field>
    requires(!std::same_as<Row, typename Field::entity_type>)
[[nodiscard]] auto const& value_of(Row const& row, Field field) {
    return row[field];
}

/// Returns the value of a member, or null if it is absent.
template <class T>
[[nodiscard]] T const* present(T const& value) noexcept {
    return &value;
}
template <class T>
[[nodiscard]] T const* present(std::optional<T> const& value) noexcept {
    return value ? &*value : nullptr;
}
template <class Field>
using present_type = typename property_shape<typename Field::value_type>::value_type;

template <class Field>
inline constexpr bool is_integer_field = std::integral<present_type<Field>> && !std::same_as<present_type<Field>, bool>;
/// Whether the values of the field can be added in std::int64_t or double.
template <class Field>
inline constexpr bool is_summable = std::floating_point<present_type<Field>> ||
    (is_integer_field<Field> && (sizeof(present_type<Field>) < 8 || std::signed_integral<present_type<Field>>));
/// Does the same for a type that need not be a field.
template <bool IsField, class Field>
inline constexpr bool is_summable_if = false;
template <class Field>
inline constexpr bool is_summable_if<true, Field> = is_summable<Field>;

/// Compares two values of a field as queries do. Text is compared by UTF-16 code unit, and a NaN is unordered.
template <class T>
[[nodiscard]] ordering order_of_values(T const& left, T const& right) {
    if constexpr (std::is_arithmetic_v<T>) {
        return left < right ? ordering::less
            : right < left  ? ordering::greater
            : left == right ? ordering::equal
                            : ordering::unordered;
    } else if constexpr (std::same_as<T, date_time>) {
        return order_of_values(left.ticks, right.ticks);
    } else if constexpr (std::same_as<T, std::string>) {
        int const order = text::compare_utf16(left, right);
        return order < 0 ? ordering::less : order > 0 ? ordering::greater : ordering::equal;
    } else if constexpr (property_value<T>) {
        return compare_values(property_type<T>::view(left), property_type<T>::view(right));
    } else { // a key component of a type that no property has
        return left < right ? ordering::less : right < left ? ordering::greater : ordering::equal;
    }
}

/// Orders the values of a field as queries do. A NaN comes after all other values, an absent value before them.
struct value_less {
    template <class T>
    [[nodiscard]] bool operator()(std::optional<T> const& left, std::optional<T> const& right) const {
        return right && (!left || (*this)(*left, *right));
    }
    template <class T>
    [[nodiscard]] bool operator()(T const& left, T const& right) const {
        if constexpr (!std::integral<T> && !std::same_as<T, std::string>) { // possibly a NaN
            if (order_of_values(right, right) != ordering::equal) {
                return order_of_values(left, left) == ordering::equal;
            }
        }
        return order_of_values(left, right) == ordering::less;
    }
};
template <class T>
[[nodiscard]] bool equal_values(T const& left, T const& right) {
    if constexpr (std::same_as<T, std::string> || std::integral<T>) {
        return left == right; // saves four comparisons of text by code units
    } else {
        return !value_less{}(left, right) && !value_less{}(right, left);
    }
}

/// Finds the first component of the partition key, for a query that requests only keys.
template <class Entity, class Components>
struct first_component_in;
template <class Entity, class First, class... More>
struct first_component_in<Entity, components<void, First, More...>> {
    using type = key_field<Entity, key_part::partition, First>;
};
template <class Entity>
using first_component = typename first_component_in<Entity, typename mapping<Entity>::partition_components>::type;

/// A list of field types without duplicates.
template <class Fields, class... More>
struct distinct_fields {
    using type = Fields;
};
template <class... Fields, class First, class... More>
struct distinct_fields<std::tuple<Fields...>, First, More...>
    : distinct_fields<std::conditional_t<std::is_void_v<First> || (std::is_same_v<First, Fields> || ...),
                          std::tuple<Fields...>, std::tuple<Fields..., First>>,
          More...> {};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
