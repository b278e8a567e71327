// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Clauses of comparisons: `between`, `in`, `starts_with`, and `when` for parts that are enabled at run time. As with a
/// comparison, the access path is known at compile time, and a mistake gives a single message.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/query/comparison.hpp>
#include <entitable/core/iterator.hpp>

#include <initializer_list>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class Predicate>
inline constexpr bool is_refused = std::same_as<Predicate, refused_predicate>;

/// A list or a range of values.
template <class Values>
concept listed_values = requires(Values const& values) {
    std::begin(values) != std::end(values);
    *std::begin(values);
} && !std::convertible_to<Values const&, std::string_view>;

/// Comparisons of one field with distinct values: duplicates would count against the limits of a query.
class distinct_alternatives {
public:
    ENTITABLE_LAZY void add(predicate_nodes equality);
    /// Returns all comparisons; if there are none, the predicate that no entity satisfies.
    ENTITABLE_LAZY [[nodiscard]] predicate_nodes nodes() &&;

private:
    /// Returns the slot of the comparison with this operand, or the slot where it would be inserted.
    ENTITABLE_LAZY [[nodiscard]] std::size_t& slot_of(predicate_node const& comparison);

    predicate_nodes nodes_;
    std::size_t count_{};
    std::vector<std::size_t> slots_; ///< a hash table of node numbers from 1; its size is a power of two
};

/// Makes the predicate that the text of a component begins with `prefix`; `last`: the component is the last of its key.
ENTITABLE_LAZY [[nodiscard]] predicate_nodes key_prefix(
    key_component const& component, key_part part, std::size_t index, bool last, key_operand prefix);

/// Makes the predicate that the value of a property is at least `prefix`, and less than its successor: in UTF-16 order
/// these are the texts that begin with `prefix`. False for an absent property.
ENTITABLE_LAZY [[nodiscard]] predicate_nodes property_prefix(std::string_view name, std::string_view prefix);

template <class Field, class Values>
[[nodiscard]] auto any_value(Field field, Values const& values) {
    using value_type = std::iter_value_t<decltype(std::begin(values))>;
    using alternative = decltype(field == std::declval<value_type const&>());
    if constexpr (is_refused<alternative>) {
        return refused_predicate{};
    } else {
        distinct_alternatives listed_once;
        for (auto&& listed : values) {
            value_type const& value = listed;
            listed_once.add((field == value).nodes());
        }
        return alternative{std::move(listed_once).nodes()};
    }
}

template <class Entity, auto Member>
[[nodiscard]] auto begins_with(property_field<Entity, Member> field, std::string_view prefix) {
    using type = typename held_by<typename property_field<Entity, Member>::value_type>::type;
    static_assert(std::same_as<type, std::string>, "starts_with(field, prefix) needs a text field");
    if constexpr (std::same_as<type, std::string>) {
        constexpr auto free = shape_set::of(0);
        if constexpr (is_changed<Member>) {
            return predicate<Entity, free, free>{with_former(property_prefix(field.name, prefix), former_of<Member>)};
        } else {
            return predicate<Entity, free, free>{property_prefix(field.name, prefix)};
        }
    } else {
        return refused_predicate{};
    }
}

template <class Entity, key_part Part, class Component>
[[nodiscard]] auto begins_with(key_field<Entity, Part, Component>, std::string_view prefix) {
    using codec = typename Component::codec;
    constexpr bool is_text = std::same_as<typename codec::value_type, std::string>;
    static_assert(is_text, "starts_with(field, prefix) needs a text field");
    if constexpr (is_text) {
        constexpr key_layout layout = layout_of<Entity, Part>;
        constexpr std::size_t index = component_index<Entity, Part, Component>;
        constexpr shape_set range = shape_of(filter_operator::greater_equal, Part, index);
        predicate_nodes nodes = key_prefix(
            layout[index], Part, index, index + 1 == layout.size(), operand_of(source_of_operand<codec>(prefix)));
        if constexpr (Component::buckets == 0) {
            return predicate<Entity, range, shape_set::of(0)>{std::move(nodes)};
        } else {
            constexpr shape_set bucket = shape_of(filter_operator::equal, Part, index - 1);
            return predicate<Entity, both(range, bucket), shape_set::of(0)>{
                in_buckets(std::move(nodes), layout[index - 1])};
        }
    } else {
        return refused_predicate{};
    }
}

} // namespace detail

/// `lowest <= field && field <= highest`.
template <class Field, class Low, class High>
    requires is_field<Field>
[[nodiscard]] auto between(Field field, Low const& lowest, High const& highest) {
    if constexpr (detail::is_refused<decltype(field >= lowest)>) {
        return detail::refused_predicate{};
    } else if constexpr (detail::is_refused<decltype(field <= highest)>) {
        return detail::refused_predicate{};
    } else {
        return field >= lowest && field <= highest;
    }
}

/// Whether the field has one of the values; no entity satisfies an empty list. The type is the same for any number of values. With more
/// than 1000 distinct values of a key component the query returns QueryTooComplex when it runs.
template <class Field, class Value>
    requires is_field<Field>
[[nodiscard]] auto in(Field field, std::initializer_list<Value> values) {
    return detail::any_value(field, values);
}
template <class Field, class Values>
    requires is_field<Field>
[[nodiscard]] auto in(Field field, Values const& values) {
    static_assert(detail::listed_values<Values>, "in(field, values) needs a list or a range of values");
    if constexpr (detail::listed_values<Values>) {
        return detail::any_value(field, values);
    } else {
        return detail::refused_predicate{};
    }
}

/// Whether the text begins with `prefix`. For a key component, this is a range of keys.
template <class Field>
    requires is_field<Field>
[[nodiscard]] auto starts_with(Field field, std::string_view prefix) {
    return detail::begins_with(field, prefix);
}

/// A part of a predicate that may be disabled at run time: see `when`.
template <class Entity>
struct optional_predicate : predicate<Entity, shape_set::of(0), shape_set::of(0)> {};

/// `condition` if `present`, otherwise no condition. The access path of a query does not depend on it; with the condition the query may
/// read fewer keys. Can be combined only with `&&`.
template <class Entity, shape_set Shapes, shape_set Negated>
[[nodiscard]] optional_predicate<Entity> when(bool present, predicate<Entity, Shapes, Negated> condition) {
    return optional_predicate<Entity>{{present ? std::move(condition).nodes() : predicate_nodes{}}};
}
constexpr detail::refused_predicate when(bool, detail::refused_predicate) { return {}; }

/// Holds if both conditions hold; an absent one is ignored.
template <class Entity>
[[nodiscard]] optional_predicate<Entity> operator&&(optional_predicate<Entity> left, optional_predicate<Entity> right) {
    return optional_predicate<Entity>{
        {detail::joined(std::move(left).nodes(), std::move(right).nodes(), filter_operator::all_of)}};
}

namespace detail {

/// The message for a `when` that is combined with an operator other than &&.
template <class Entity>
constexpr refused_predicate refuse_optional() {
    static_assert(sizeof(Entity) == 0, "when(...) may be disabled at run time, so combine it with && only");
    return {};
}

} // namespace detail

/// Does not compile: combine `when` only with &&.
template <class Entity>
constexpr auto operator!(optional_predicate<Entity> const&) {
    return detail::refuse_optional<Entity>();
}
/// Does not compile: combine `when` only with &&.
template <class Entity>
constexpr auto operator||(optional_predicate<Entity> const&, optional_predicate<Entity> const&) {
    return detail::refuse_optional<Entity>();
}
/// Does not compile: combine `when` only with &&.
template <class Entity, shape_set Shapes, shape_set Negated>
constexpr auto operator||(optional_predicate<Entity> const&, predicate<Entity, Shapes, Negated> const&) {
    return detail::refuse_optional<Entity>();
}
/// Does not compile: combine `when` only with &&.
template <class Entity, shape_set Shapes, shape_set Negated>
constexpr auto operator||(predicate<Entity, Shapes, Negated> const&, optional_predicate<Entity> const&) {
    return detail::refuse_optional<Entity>();
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/query/impl/clauses.ipp>
#endif

#endif
