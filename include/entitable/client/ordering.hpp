// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What queries group and sort by: members, values computed from members (`day(o::at)`, `computed(function, o::cents)`), and functions of an
/// entity; `ascending` and `descending`.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/detail/folds.hpp>
#include <entitable/client/selected.hpp>

#include <concepts>
#include <optional>
#include <type_traits>

ENTITABLE_BEGIN_NAMESPACE

/// The largest number of rows that `order_by` sorts in memory, unless `most_rows` sets another limit. `take(n)` and `top(n, ...)` hold n
/// rows, and have no other limit.
inline constexpr std::uint64_t default_most_sorted_rows = 100'000;

/// A value computed from members of an entity: made by `computed` and `day`.
template <class Function, class... Fields>
struct computed_value {
    using entity_type = typename std::tuple_element_t<0, std::tuple<Fields...>>::entity_type; ///< entity of the members

    std::string_view name; ///< name in `explain()`
    Function function;     ///< computes the value from the values of the members
};

/// A member, or a function, by which a query sorts, and the direction: made by `ascending` and `descending`.
template <class By, bool Descending>
struct order_term {
    By by; ///< member, computed value or function
};

/// Computes a value from members: `group_by(computed([](std::int32_t year) { return year / 10 * 10; }, b::year), count())`. The service
/// sends only these members. The function takes the values of the members, in this order.
template <class Function, class... Fields>
[[nodiscard]] auto computed(Function function, Fields...) {
    constexpr bool of_members = sizeof...(Fields) > 0 && (requires { typename Fields::entity_type; } && ...);
    static_assert(of_members, "computed(function, members...) needs fields of an entity after the function");
    if constexpr (of_members) {
        return computed_value<Function, Fields...>{"a computed value", std::move(function)};
    } else {
        return std::nullopt;
    }
}

namespace detail {

struct day_of_time {
    [[nodiscard]] date_time operator()(date_time time) const noexcept { return time.day(); }
    /// A template, so that files without it do not compile `std::optional<date_time>`.
    template <std::same_as<date_time> Time>
    [[nodiscard]] std::optional<Time> operator()(std::optional<Time> const& time) const noexcept {
        return time ? std::optional{time->day()} : std::nullopt;
    }
};

} // namespace detail

/// The day of a `date_time` member: midnight UTC; absent if the member is absent. For `group_by`, `distinct` and `order_by`.
template <class Field>
    requires requires { typename Field::entity_type; }
[[nodiscard]] auto day(Field) noexcept {
    constexpr bool is_time = std::is_same_v<detail::present_type<Field>, date_time>;
    static_assert(is_time, "day(member) needs a member of type date_time");
    return computed_value<detail::day_of_time, Field>{"the day of a member", {}};
}

/// Sorts by the least value first; a member without a direction does the same. Absent values come last, and a NaN after all numbers, in both directions.
template <class By>
[[nodiscard]] order_term<By, false> ascending(By by) {
    return {std::move(by)};
}
/// Sorts by the greatest value first; see `ascending`.
template <class By>
[[nodiscard]] order_term<By, true> descending(By by) {
    return {std::move(by)};
}

namespace detail {

/// Removes the direction.
template <class By>
struct without_direction {
    using type = By;
    static constexpr bool descending = false;
};
template <class By, bool Descending>
struct without_direction<order_term<By, Descending>> {
    using type = By;
    static constexpr bool descending = Descending;
};

/// How a query sorts or groups by a `By`: `fields` are the members that it reads, void for a function of the whole entity.
template <class By>
struct sorting_value {
    using fields = void;
    static constexpr bool by_library = false; ///< whether the value is computed without user code
    template <class Entity, class Row>
    static constexpr bool fits = requires(By const& by, Row const& row) { by(row); };
    template <class Row>
    [[nodiscard]] static decltype(auto) of(Row const& row, By const& by) {
        return by(row);
    }
    [[nodiscard]] static std::string_view name(By const&) noexcept { return "a function"; }
};
template <class Entity, auto Member>
struct sorting_value<property_field<Entity, Member>> {
    using field = property_field<Entity, Member>;
    using fields = std::tuple<field>;
    static constexpr bool by_library = true;
    template <class Other, class Row>
    static constexpr bool fits = std::is_same_v<Entity, Other> && !is_in_parts<Member>;
    template <class Row>
    [[nodiscard]] static decltype(auto) of(Row const& row, field by) {
        return value_of(row, by);
    }
    [[nodiscard]] static std::string_view name(field) noexcept {
        return name_of_property<Entity, field>(typename mapping<Entity>::properties{});
    }
};
template <class Entity, key_part Part, class Component>
struct sorting_value<key_field<Entity, Part, Component>> {
    using field = key_field<Entity, Part, Component>;
    using fields = std::tuple<field>;
    static constexpr bool by_library = true;
    template <class Other, class Row>
    static constexpr bool fits = std::is_same_v<Entity, Other>;
    template <class Row>
    [[nodiscard]] static decltype(auto) of(Row const& row, field by) {
        return value_of(row, by);
    }
    [[nodiscard]] static std::string_view name(field) noexcept {
        key_layout const layout = Part == key_part::partition ? key_layout{mapping<Entity>::partition_layout}
                                                              : key_layout{mapping<Entity>::row_layout};
        return layout[position_in(layout, mapping<Entity>::template components_of<Part>::template index_of<Component>)]
            .name;
    }
};
template <class Function, class... Fields>
struct sorting_value<computed_value<Function, Fields...>> {
    using fields = std::tuple<Fields...>;
    static constexpr bool by_library = std::is_same_v<Function, day_of_time>;
    template <class Entity, class Row>
    static constexpr bool fits = (is_field_of<Entity, Fields> && ...) && !(is_field_in_parts<Fields> || ...) &&
        std::is_invocable_v<Function const&, typename Fields::value_type const&...>;
    template <class Row>
    [[nodiscard]] static decltype(auto) of(Row const& row, computed_value<Function, Fields...> const& by) {
        return by.function(value_of(row, Fields{})...);
    }
    [[nodiscard]] static std::string_view name(computed_value<Function, Fields...> const& by) noexcept {
        return by.name;
    }
};

/// Whether a query of `Entity` with elements of type `Row` can sort or group by `By`.
template <class Entity, class Row, class By>
inline constexpr bool sorts_by = sorting_value<By>::template fits<Entity, Row>;

/// The type in which a value is held: text is copied.
template <class T>
using owned_value = std::conditional_t<std::is_convertible_v<T const&, std::string_view>, std::string, T>;
template <class Row, class By>
using sorting_type = owned_value<
    std::remove_cvref_t<decltype(sorting_value<By>::of(std::declval<Row const&>(), std::declval<By const&>()))>>;

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
