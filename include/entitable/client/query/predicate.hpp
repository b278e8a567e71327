// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `predicate`: a condition on an entity. Its type encodes the shapes of its alternatives, and so the access path; its value is a plain
/// postfix list of comparisons, on properties and on key components.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/changed.hpp>
#include <entitable/client/mapping/field.hpp>
#include <entitable/client/query/access_path.hpp>
#include <entitable/core/request/filter.hpp>

#include <concepts>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Subject of a predicate node that is not a connective.
enum class predicate_subject : std::uint8_t {
    property,  ///< the value of a property
    component, ///< the text of a key component
    prefix,    ///< whether the text of a key component begins with `operand`; `operation` is not used
    nothing,   ///< condition that no entity satisfies
    /// a range condition on a key component whose operand cannot be ordered among the component's texts; the query is refused
    unplaced,
};

/// One node of a predicate: a comparison with a property or a key component, or a connective.
struct predicate_node {
    filter_operator operation{}; ///< the comparison, or the connective
    predicate_subject subject{}; ///< the compared key, property or member
    key_part part{};             ///< key of the component
    std::uint8_t index{};        ///< index of the component
    bool optional{};             ///< whether the component may be absent: every comparison is false then
    bool exact{true};            ///< for a prefix: whether every key in its range has a component that begins with it
    std::string name;            ///< name of the property or the member
    value operand;               ///< compared value; for a component, its text
    /// earlier form of the property, which rows may have: then the client checks both forms. Null if there is none
    detail::former_property const* former{};

    /// Whether its subject is a key component.
    [[nodiscard]] bool on_key() const noexcept {
        return subject == predicate_subject::component || subject == predicate_subject::prefix;
    }
    /// Formats as readable text: `age >= 50`, `event starts with "2011"`.
    ENTITABLE_LAZY [[nodiscard]] std::string to_string() const;
};

/// Nodes in postfix order; no nodes accept everything.
using predicate_nodes = std::vector<predicate_node>;

namespace detail {

/// Joins `left` and `right` with the operation; a side without nodes adds nothing.
ENTITABLE_LAZY [[nodiscard]] predicate_nodes joined(
    predicate_nodes left, predicate_nodes right, filter_operator operation);
/// Adds an alternative to `all`, which is empty before the first alternative.
ENTITABLE_LAZY void add_alternative(predicate_nodes& all, predicate_nodes next);
/// The predicate that no entity satisfies.
ENTITABLE_LAZY [[nodiscard]] predicate_nodes nothing();
/// Returns the negation, with `not` only before comparisons that may meet an absent value.
ENTITABLE_LAZY [[nodiscard]] predicate_nodes negated(predicate_nodes nodes);

/// Makes the client check rows with the earlier form of the property, too.
ENTITABLE_LAZY [[nodiscard]] predicate_nodes with_former(predicate_nodes nodes, former_property const& former);
/// Returns the nodes for rows without earlier forms.
ENTITABLE_LAZY [[nodiscard]] predicate_nodes without_former(predicate_nodes nodes);

/// The value of a predicate, the same for all entities.
class predicate_value {
public:
    predicate_value(predicate_nodes nodes); // NOLINT: implicit, for the predicates derived from it
    predicate_value(predicate_value const& other);
    predicate_value(predicate_value&& other) noexcept;
    predicate_value& operator=(predicate_value const& other) = default;
    predicate_value& operator=(predicate_value&& other) noexcept = default;
    ~predicate_value();

    /// The nodes in postfix order.
    [[nodiscard]] predicate_nodes const& nodes() const& noexcept { return nodes_; }
    [[nodiscard]] predicate_nodes&& nodes() && noexcept { return static_cast<predicate_nodes&&>(nodes_); }

private:
    predicate_nodes nodes_;
};

/// Joins `left` and `right` with the operation, moving from both.
ENTITABLE_LAZY [[nodiscard]] predicate_value joined_values(
    predicate_value& left, predicate_value& right, filter_operator operation);

} // namespace detail

/// A condition on entities of one type. `Shapes` are the shapes of its alternatives, `Negated` the shapes of its negation. Thread safety: one thread
/// at a time; copies are independent.
template <class Entity, shape_set Shapes, shape_set Negated>
struct predicate : detail::predicate_value {
    using entity_type = Entity; ///< entity type of the condition
    /// The constraints of the alternatives on the keys.
    static constexpr shape_set shapes = Shapes;
};

namespace detail {

/// The shapes of a condition that constrains no key. A constant, which the compiler evaluates once.
inline constexpr shape_set free_shapes = shape_set::of(0);
template <class Entity>
using free_predicate = predicate<Entity, free_shapes, free_shapes>;

[[nodiscard]] constexpr bool is_range(filter_operator operation) noexcept {
    return operation >= filter_operator::less && operation <= filter_operator::greater_equal;
}

/// Returns the constraint of a comparison, or of its opposite, on its component.
[[nodiscard]] constexpr shape_set shape_of(filter_operator operation, key_part part, std::size_t index) noexcept {
    key_shape const narrowed = operation == filter_operator::equal ? 2U : is_range(operation) ? 1U : 0U;
    return shape_set::of(narrowed << shape_position(part, index));
}
[[nodiscard]] constexpr shape_set shape_of_opposite(
    filter_operator operation, key_part part, std::size_t index, bool optional) noexcept {
    bool const narrows = !optional && operation != filter_operator::equal;
    key_shape const narrowed = !narrows ? 0U : operation == filter_operator::not_equal ? 2U : 1U;
    return shape_set::of(narrowed << shape_position(part, index));
}

// Constants, which the compiler evaluates once for all entities.
template <filter_operator Operation, key_part Part, std::size_t Index>
inline constexpr shape_set shapes_of_comparison = shape_of(Operation, Part, Index);
template <filter_operator Operation, key_part Part, std::size_t Index, bool Optional>
inline constexpr shape_set shapes_of_opposite = shape_of_opposite(Operation, Part, Index, Optional);

} // namespace detail

/// Holds if both conditions hold.
template <class Entity, shape_set S1, shape_set N1, shape_set S2, shape_set N2>
[[nodiscard]] auto operator&&(predicate<Entity, S1, N1> left, predicate<Entity, S2, N2> right) {
    return predicate<Entity, both(S1, S2), either(N1, N2)>{detail::joined_values(left, right, filter_operator::all_of)};
}

/// Holds if at least one of the conditions holds.
template <class Entity, shape_set S1, shape_set N1, shape_set S2, shape_set N2>
[[nodiscard]] auto operator||(predicate<Entity, S1, N1> left, predicate<Entity, S2, N2> right) {
    return predicate<Entity, either(S1, S2), both(N1, N2)>{detail::joined_values(left, right, filter_operator::any_of)};
}

/// Holds if and only if the condition does not, even for an absent property.
template <class Entity, shape_set Shapes, shape_set Negated>
[[nodiscard]] auto operator!(predicate<Entity, Shapes, Negated> operand) {
    return predicate<Entity, Negated, Shapes>{detail::negated(std::move(operand).nodes())};
}

/// Does not compile: a field alone is not a condition.
template <class Entity, shape_set Shapes, shape_set Negated, class Field>
    requires requires {
        typename Field::entity_type;
        typename Field::value_type;
    }
detail::refused_predicate operator&&(predicate<Entity, Shapes, Negated> const&, Field const&) {
    static_assert(sizeof(Field) == 0, "a member alone is not a condition: compare it, as in r::finished == true");
    return {};
}
/// Does not compile: a query is about one entity.
template <class Left, shape_set S1, shape_set N1, class Right, shape_set S2, shape_set N2>
    requires(!std::same_as<Left, Right>)
detail::refused_predicate operator&&(predicate<Left, S1, N1> const&, predicate<Right, S2, N2> const&) {
    static_assert(
        std::same_as<Left, Right>, "both conditions must use members of one entity type: these belong to two types");
    return {};
}
/// Does not compile: a field alone is not a condition.
template <class Entity, shape_set Shapes, shape_set Negated, class Field>
    requires requires {
        typename Field::entity_type;
        typename Field::value_type;
    }
detail::refused_predicate operator||(predicate<Entity, Shapes, Negated> const&, Field const&) {
    static_assert(sizeof(Field) == 0, "a member alone is not a condition: compare it, as in r::finished == true");
    return {};
}
/// Does not compile: a query is about one entity.
template <class Left, shape_set S1, shape_set N1, class Right, shape_set S2, shape_set N2>
    requires(!std::same_as<Left, Right>)
detail::refused_predicate operator||(predicate<Left, S1, N1> const&, predicate<Right, S2, N2> const&) {
    static_assert(
        std::same_as<Left, Right>, "both conditions must use members of one entity type: these belong to two types");
    return {};
}

/// Result of a predicate that was already diagnosed.
template <class Entity, shape_set Shapes, shape_set Negated>
constexpr detail::refused_predicate operator&&(predicate<Entity, Shapes, Negated> const&, detail::refused_predicate) {
    return {};
}
/// Result of a predicate that was already diagnosed.
template <class Entity, shape_set Shapes, shape_set Negated>
constexpr detail::refused_predicate operator||(predicate<Entity, Shapes, Negated> const&, detail::refused_predicate) {
    return {};
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/query/impl/predicate.ipp>
#endif

#endif
