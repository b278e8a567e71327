// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The comparisons of fields with values: `r::age >= 50`. Overload resolution accepts any operand, which is checked inside, so that a
/// mistake gives one message rather than a list of candidates.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/detail/key_from.hpp>
#include <entitable/client/mapping/key_argument.hpp>
#include <entitable/client/mapping/mapping.hpp>
#include <entitable/client/query/predicate.hpp>
#include <entitable/client/query/refused_operands.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether a value of type From can be compared with a member of type T without loss.
template <class From, class T>
concept comparable_with = std::same_as<From, T> ||
    (std::same_as<T, std::string> && std::convertible_to<From const&, std::string_view>) || fits_losslessly<From, T> ||
    (std::same_as<T, double> && (std::same_as<From, float> || fits_losslessly<From, std::int32_t>));

/// Makes a comparison with a property.
ENTITABLE_LAZY [[nodiscard]] predicate_value property_comparison(
    std::string_view name, filter_operator operation, value_view const& operand);

/// Makes the predicate that the property is present, or absent: it equals some value, or differs from the value.
ENTITABLE_LAZY [[nodiscard]] predicate_nodes presence(std::string_view name, value_view of_its_type, bool there);

template <class Entity, auto Member>
[[nodiscard]] auto is_present(property_field<Entity, Member> field, bool there) {
    using type = typename held_by<typename property_field<Entity, Member>::value_type>::type;
    type const least{};
    if constexpr (is_changed<Member>) {
        return free_predicate<Entity>{
            with_former(presence(field.name, property_type<type>::view(least), there), former_of<Member>)};
    } else {
        return free_predicate<Entity>{presence(field.name, property_type<type>::view(least), there)};
    }
}

/// Makes a comparison. This is one function for all properties of a type, in any entity.
template <class T, class From>
[[nodiscard]] predicate_value compare_value(std::string_view name, filter_operator operation, From const& from) {
    if constexpr (std::same_as<T, std::string>) {
        return property_comparison(name, operation, value_view{std::string_view{from}});
    } else {
        T const converted = static_cast<T>(from);
        return property_comparison(name, operation, property_type<T>::view(converted));
    }
}

/// The type that the values of a member are compared as.
template <class Entity, auto Member>
using compared_type = typename held_by<typename property_field<Entity, Member>::value_type>::type;

/// Whether the comparison is that of the value and nothing else. The operators make such a comparison themselves: most comparisons are
/// of this kind, and each compiles one function instead of two.
template <class Entity, auto Member, class From>
inline constexpr bool is_plain_comparison =
    comparable_with<From, compared_type<Entity, Member>> && !is_in_parts<Member> && !is_changed<Member>;

/// Makes any other comparison, or reports why there is none.
template <class Entity, auto Member, class From>
[[nodiscard]] auto compare(property_field<Entity, Member> field, filter_operator operation, From const& from) {
    using type = typename held_by<typename property_field<Entity, Member>::value_type>::type;
    if constexpr (is_in_parts<Member>) {
        static_assert(!is_in_parts<Member>,
            "a member that is stored as several properties (chunked, or a reference) cannot be compared in a query: "
            "store what you search for in a separate member");
        return refused_predicate{};
    } else if constexpr (std::same_as<From, std::nullopt_t>) {
        constexpr bool may_be_absent = !std::same_as<typename property_field<Entity, Member>::value_type, type>;
        static_assert(
            may_be_absent, "only an optional member can be compared with nullopt: this member is always present");
        return is_present(field, operation == filter_operator::not_equal);
    } else if constexpr (std::same_as<type, date_time> && requires { date_time::from_system(from); }) {
        return compare(field, operation, date_time::from_system(from));
    } else if constexpr (is_plain_comparison<Entity, Member, From>) {
        return free_predicate<Entity>{compare_value<type>(field.name, operation, from)};
    } else if constexpr (comparable_with<From, type>) {
        return free_predicate<Entity>{
            with_former(compare_value<type>(field.name, operation, from).nodes(), former_of<Member>)};
    } else {
        refuse_operand<type, From>();
        return refused_predicate{};
    }
}

template <class Entity, key_part Part>
inline constexpr key_layout layout_of = Part == key_part::partition ? key_layout{mapping<Entity>::partition_layout}
                                                                    : key_layout{mapping<Entity>::row_layout};

/// Index of a component in its key.
template <class Entity, key_part Part, class Component>
inline constexpr std::size_t component_index =
    position_in(layout_of<Entity, Part>, mapping<Entity>::template components_of<Part>::template index_of<Component>);

/// The component as plain data.
template <class Entity, key_part Part, class Component>
inline constexpr key_component const& described_component =
    layout_of<Entity, Part>[component_index<Entity, Part, Component>];

/// A value as the operand of a comparison with a key component.
struct key_operand {
    std::string text; ///< key text; for a value without a text, a text that sorts at its position
    bool has_text{};  ///< a stored component may have this text
    bool has_place{}; ///< whether the text sorts among the component's texts
};

/// A value to compare with, and the functions that write it.
struct operand_source {
    void const* value;
    bool (*append)(std::string& out, void const* value);
    void (*append_operand)(std::string& out, void const* value); ///< null if the codec does not define it
};
template <class Codec, class T>
[[nodiscard]] constexpr operand_source source_of_operand(T const& value) noexcept {
    if constexpr (requires(std::string& out) { Codec::append_operand(out, value); }) {
        return {&value, &append_value<Codec, T>,
            [](std::string& out, void const* from) { Codec::append_operand(out, *static_cast<T const*>(from)); }};
    } else {
        return {&value, &append_value<Codec, T>, nullptr};
    }
}
ENTITABLE_LAZY [[nodiscard]] key_operand operand_of(operand_source const& source);

/// Makes the nodes of a comparison with a key component. A value without a text equals no stored value.
ENTITABLE_LAZY [[nodiscard]] predicate_nodes key_comparison(
    filter_operator operation, key_component const& component, key_part part, std::size_t index, key_operand operand);

/// Returns the position of an operand relative to the values of a component: only a literal may be outside.
template <class T, class From>
[[nodiscard]] constexpr int place_beside([[maybe_unused]] From const& from) noexcept {
    if constexpr (literal_for<From, T>) {
        return place_in<T>(from);
    } else {
        return 0;
    }
}
/// Returns the closest value of the component.
template <class T, class From>
[[nodiscard]] constexpr decltype(auto) closest_to(From const& from) noexcept {
    if constexpr (literal_for<From, T>) {
        int const place = place_in<T>(from);
        using limits = std::numeric_limits<T>;
        return place == 0 ? static_cast<T>(from) : place < 0 ? (limits::min)() : (limits::max)();
    } else {
        return (from);
    }
}

/// Does the same for a value that its codec writes. `place`: position of the operand relative to the values of the component, of which
/// `source` is the closest: -1 before them, 1 after them. `reversed`: the texts are in descending order of the values.
ENTITABLE_LAZY [[nodiscard]] predicate_value key_comparison(filter_operator operation, int place, bool reversed,
    key_component const& component, key_part part, std::size_t index, operand_source const& source);

/// Restricts a comparison with a salted component to the bucket of its operand, or, unless it is ==, to any bucket.
ENTITABLE_LAZY [[nodiscard]] predicate_nodes in_buckets(predicate_nodes comparison, key_component const& bucket);

/// Makes a comparison. This is one function for all components of a codec, in any entity.
template <class Codec, class From>
[[nodiscard]] predicate_value compare_text(
    filter_operator operation, key_component const& component, key_part part, std::size_t index, From const& from) {
    using type = typename held_by<typename Codec::value_type>::type;
    std::remove_cvref_t<typename Codec::argument> const operand =
        static_cast<typename Codec::argument>(closest_to<type>(from));
    return key_comparison(operation, place_beside<type>(from), Codec::reversed, component, part, index,
        source_of_operand<Codec>(operand));
}

/// The type of a comparison with a component that is not salted.
template <filter_operator Operation, class Entity, key_part Part, class Component>
using key_predicate = predicate<Entity, shapes_of_comparison<Operation, Part, component_index<Entity, Part, Component>>,
    shapes_of_opposite<Operation, Part, component_index<Entity, Part, Component>, Component::codec::optional>>;

/// Whether the values of the component are in order within their key.
template <class Entity, key_part Part, class Component>
inline constexpr bool is_in_order = Component::codec::ordered &&
    (!Component::codec::variable || component_index<Entity, Part, Component> + 1 == layout_of<Entity, Part>.size());

/// Whether a value can be compared with a component.
template <bool Range, class Codec, class From>
inline constexpr bool is_compared_with_codec =
    comparable_with<From, typename held_by<typename Codec::value_type>::type> ||
    literal_for<From, typename held_by<typename Codec::value_type>::type> ||
    (Codec::optional && !Range &&
        (std::same_as<From, std::nullopt_t> || std::same_as<From, typename Codec::value_type>));

/// Whether the comparison is that of the component and nothing else: see `is_plain_comparison`.
template <bool Range, class Entity, key_part Part, class Component, class From>
inline constexpr bool is_plain_key_comparison = Component::buckets == 0 &&
    is_compared_with_codec<Range, typename Component::codec, From> && (!Range || is_in_order<Entity, Part, Component>);

/// Makes any other comparison, or reports why there is none.
template <filter_operator Operation, class Entity, key_part Part, class Component, class From>
[[nodiscard]] auto compare(key_field<Entity, Part, Component> field, From const& from) {
    using codec = typename Component::codec;
    using type = typename held_by<typename codec::value_type>::type;
    constexpr std::size_t index = component_index<Entity, Part, Component>;
    constexpr bool in_order = is_in_order<Entity, Part, Component>;
    if constexpr (is_range(Operation) && !in_order) {
        static_assert(!is_range(Operation) || in_order,
            "this key component does not preserve the order of its values, so a range over it would miss rows: text is "
            "in order only as the last component of its key; compare with == or !=");
        return refused_predicate{};
    } else if constexpr (std::same_as<type, date_time> && requires { date_time::from_system(from); }) {
        return compare<Operation>(field, date_time::from_system(from));
    } else if constexpr (!is_compared_with_codec<is_range(Operation), codec, From>) {
        refuse_operand<type, From>();
        return refused_predicate{};
    } else if constexpr (Component::buckets == 0) {
        return key_predicate<Operation, Entity, Part, Component>{
            compare_text<codec>(Operation, described_component<Entity, Part, Component>, Part, index, from)};
    } else {
        constexpr key_layout layout = layout_of<Entity, Part>;
        constexpr shape_set shape = shape_of(Operation, Part, index);
        constexpr shape_set bucket = shape_of(filter_operator::equal, Part, index - 1);
        return predicate<Entity, both(shape, bucket), free_shapes>{
            in_buckets(compare_text<codec>(Operation, layout[index], Part, index, from).nodes(), layout[index - 1])};
    }
}

} // namespace detail

/// Whether the property is present, with the type of the member. For an optional member, `field != std::nullopt` is equivalent.
template <class Entity, auto Member>
[[nodiscard]] auto present(property_field<Entity, Member> field) {
    return detail::is_present(field, true);
}

/// Does not compile: a key component is always present.
template <class Entity, key_part Part, class Component>
[[nodiscard]] auto present(key_field<Entity, Part, Component>) {
    static_assert(sizeof(Entity) == 0,
        "present(field) is for properties: a key component is always present, or an optional that can be compared with "
        "std::nullopt");
    return detail::refused_predicate{};
}

/// \cond
// A macro rather than a function: a function would be compiled once more for each member, operator and type of operand.
#define ENTITABLE_COMPARE_PROPERTY(operation)                                                           \
    if constexpr (detail::is_plain_comparison<Entity, Member, From>) {                                  \
        return detail::free_predicate<Entity>{                                                          \
            detail::compare_value<detail::compared_type<Entity, Member>>(field.name, operation, from)}; \
    } else {                                                                                            \
        return detail::compare(field, operation, from);                                                 \
    }
#define ENTITABLE_COMPARE_COMPONENT(operation)                                                                   \
    if constexpr (detail::is_plain_key_comparison<detail::is_range(operation), Entity, Part, Component, From>) { \
        return detail::key_predicate<operation, Entity, Part, Component>{                                        \
            detail::compare_text<typename Component::codec>(operation,                                           \
                detail::described_component<Entity, Part, Component>, Part,                                      \
                detail::component_index<Entity, Part, Component>, from)};                                        \
    } else {                                                                                                     \
        return detail::compare<operation>(field, from);                                                          \
    }
/// \endcond

// Six comparisons for two kinds of fields.
/// Whether the property has this value. False if it is absent or has a different type.
template <class Entity, auto Member, class From>
[[nodiscard]] auto operator==(property_field<Entity, Member> field, From const& from) {
    ENTITABLE_COMPARE_PROPERTY(filter_operator::equal);
}
/// Whether the property has a different value. False if it is absent or has a different type.
template <class Entity, auto Member, class From>
[[nodiscard]] auto operator!=(property_field<Entity, Member> field, From const& from) {
    ENTITABLE_COMPARE_PROPERTY(filter_operator::not_equal);
}
/// Whether the property is less than the value; false if it is absent. Text is compared by UTF-16 code unit, as the service does.
template <class Entity, auto Member, class From>
[[nodiscard]] auto operator<(property_field<Entity, Member> field, From const& from) {
    ENTITABLE_COMPARE_PROPERTY(filter_operator::less);
}
/// Whether the property is less than or equal to the value.
template <class Entity, auto Member, class From>
[[nodiscard]] auto operator<=(property_field<Entity, Member> field, From const& from) {
    ENTITABLE_COMPARE_PROPERTY(filter_operator::less_equal);
}
/// Whether the property is greater than the value.
template <class Entity, auto Member, class From>
[[nodiscard]] auto operator>(property_field<Entity, Member> field, From const& from) {
    ENTITABLE_COMPARE_PROPERTY(filter_operator::greater);
}
/// Whether the property is greater than or equal to the value.
template <class Entity, auto Member, class From>
[[nodiscard]] auto operator>=(property_field<Entity, Member> field, From const& from) {
    ENTITABLE_COMPARE_PROPERTY(filter_operator::greater_equal);
}

/// Whether the key component has this value; narrows the key range.
template <class Entity, key_part Part, class Component, class From>
[[nodiscard]] auto operator==(key_field<Entity, Part, Component> field, From const& from) {
    ENTITABLE_COMPARE_COMPONENT(filter_operator::equal);
}
/// Whether the key component has a different value.
template <class Entity, key_part Part, class Component, class From>
[[nodiscard]] auto operator!=(key_field<Entity, Part, Component> field, From const& from) {
    ENTITABLE_COMPARE_COMPONENT(filter_operator::not_equal);
}
/// Whether the key component is less than the value. Compiles only if the component preserves the order of its values.
template <class Entity, key_part Part, class Component, class From>
[[nodiscard]] auto operator<(key_field<Entity, Part, Component> field, From const& from) {
    ENTITABLE_COMPARE_COMPONENT(filter_operator::less);
}
/// Whether the key component is less than or equal to the value. Compiles only if the component preserves the order of its values.
template <class Entity, key_part Part, class Component, class From>
[[nodiscard]] auto operator<=(key_field<Entity, Part, Component> field, From const& from) {
    ENTITABLE_COMPARE_COMPONENT(filter_operator::less_equal);
}
/// Whether the key component is greater than the value. Compiles only if the component preserves the order of its values.
template <class Entity, key_part Part, class Component, class From>
[[nodiscard]] auto operator>(key_field<Entity, Part, Component> field, From const& from) {
    ENTITABLE_COMPARE_COMPONENT(filter_operator::greater);
}
/// Whether the key component is greater than or equal to the value. Compiles only if the component preserves the order of its values.
template <class Entity, key_part Part, class Component, class From>
[[nodiscard]] auto operator>=(key_field<Entity, Part, Component> field, From const& from) {
    ENTITABLE_COMPARE_COMPONENT(filter_operator::greater_equal);
}

#undef ENTITABLE_COMPARE_PROPERTY
#undef ENTITABLE_COMPARE_COMPONENT

namespace detail {

/// The left operand is a value, not another field.
template <class From>
using if_value = std::enable_if_t<!is_field<From>>;
template <class From, class Field>
concept value_before = is_field<Field> && !is_field<From>;

} // namespace detail

// The same comparisons with the value on the left. Equality must have exactly the constraints above; otherwise the compiler would reverse one of them.
/// `5 == field` is `field == 5`.
template <class From, class Entity, auto Member, class = detail::if_value<From>>
[[nodiscard]] auto operator==(From const& from, property_field<Entity, Member> field) {
    return field == from;
}
template <class From, class Entity, key_part Part, class Component, class = detail::if_value<From>>
[[nodiscard]] auto operator==(From const& from, key_field<Entity, Part, Component> field) {
    return field == from;
}
/// `5 != field` is `field != 5`.
template <class From, class Entity, auto Member, class = detail::if_value<From>>
[[nodiscard]] auto operator!=(From const& from, property_field<Entity, Member> field) {
    return field != from;
}
template <class From, class Entity, key_part Part, class Component, class = detail::if_value<From>>
[[nodiscard]] auto operator!=(From const& from, key_field<Entity, Part, Component> field) {
    return field != from;
}
/// `5 < field` is `field > 5`.
template <class From, class Field>
    requires detail::value_before<From, Field>
[[nodiscard]] auto operator<(From const& from, Field field) {
    return field > from;
}
/// `5 <= field` is `field >= 5`.
template <class From, class Field>
    requires detail::value_before<From, Field>
[[nodiscard]] auto operator<=(From const& from, Field field) {
    return field >= from;
}
/// `5 > field` is `field < 5`.
template <class From, class Field>
    requires detail::value_before<From, Field>
[[nodiscard]] auto operator>(From const& from, Field field) {
    return field < from;
}
/// `5 >= field` is `field <= 5`.
template <class From, class Field>
    requires detail::value_before<From, Field>
[[nodiscard]] auto operator>=(From const& from, Field field) {
    return field <= from;
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/query/impl/comparison.ipp>
#endif

#endif
