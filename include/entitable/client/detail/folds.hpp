// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How rows are read into what a query gives, and the folds of `query` over one field.

#include <entitable/client/row_walk.hpp>
#include <entitable/mapping/codec.hpp>

#include <concepts>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class Entity, class Row>
[[nodiscard]] result<void> read_row(row_view from, Row& to, reading mode) {
    if constexpr (std::same_as<Row, Entity>) {
        return from_row(from, to, mode);
    } else {
        return to.read(from, mode);
    }
}

/// Reads the next row of a walk; false at the end.
template <class Entity, class Row>
[[nodiscard]] result<bool> read_next(row_walk& walk, Row& to) {
    auto found = walk.next();
    if (!found) {
        return std::move(found).as_failure();
    }
    if (!*found) {
        return false;
    }
    if (auto decoded = read_row<Entity>(**found, to, walk.mode()); !decoded) {
        return std::move(decoded).as_failure();
    }
    return true;
}

/// The value of a field of an entity, or of what a query has selected.
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

/// The value of a member, or null when it is absent.
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
/// The values of the field can be added up in std::int64_t or double.
template <class Field>
inline constexpr bool is_summable = std::floating_point<present_type<Field>> ||
    (is_integer_field<Field> && (sizeof(present_type<Field>) < 8 || std::signed_integral<present_type<Field>>));

/// How two values of a field stand to each other: as the comparisons of queries say. Text is compared by UTF-16 code unit, and
/// a NaN with nothing.
template <class T>
[[nodiscard]] ordering order_of_values(T const& left, T const& right) {
    if constexpr (property_value<T>) {
        return compare_values(property_type<T>::view(left), property_type<T>::view(right));
    } else { // a key component of a type that no property has
        return left < right ? ordering::less : right < left ? ordering::greater : ordering::equal;
    }
}

/// The least or greatest value of a field among the rows of a query.
template <bool Greatest, class Query, class Field>
[[nodiscard]] auto extreme(Query const& rows, Field field) {
    using type = present_type<Field>;
    return rows.fold(std::optional<type>{}, [field](std::optional<type> best, auto const& row) {
        auto&& held = value_of(row, field);
        type const* const value = present(held);
        constexpr ordering better = Greatest ? ordering::greater : ordering::less;
        bool const counts = value != nullptr && order_of_values(*value, *value) == ordering::equal; // a NaN does not
        if (counts && (!best || order_of_values(*value, *best) == better)) {
            best = *value;
        }
        return best;
    });
}

template <class Query, class Field>
[[nodiscard]] auto sum_of(Query const& rows, Field field) {
    using type = present_type<Field>;
    if constexpr (is_integer_field<Field>) {
        bool fits = true;
        auto sum = rows.fold(std::int64_t{}, [field, &fits](std::int64_t before, auto const& row) {
            auto&& held = value_of(row, field);
            type const* const value = present(held);
            std::int64_t const more = value != nullptr ? static_cast<std::int64_t>(*value) : 0;
            constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
            fits = fits && (more >= 0 ? before <= most - more : before >= -most - 1 - more);
            return fits ? before + more : before;
        });
        if (sum && !fits) {
            sum = failure{error_code::out_of_range_input, "the sum does not fit into 64 bits"};
        }
        return sum;
    } else {
        return rows.fold(0.0, [field](double before, auto const& row) {
            auto&& held = value_of(row, field);
            type const* const value = present(held);
            return value != nullptr ? before + *value : before;
        });
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
