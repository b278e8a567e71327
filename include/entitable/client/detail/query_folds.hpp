// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Groups of entities with equal values, the terminal calls that all queries share, and those of queries that read whole entities.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/aggregate.hpp>
#include <entitable/client/detail/refused_calls.hpp>
#include <entitable/client/ordering.hpp>
#include <entitable/client/selected.hpp>
#include <entitable/core/detail/group_index.hpp>
#include <entitable/core/try.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE
template <class Entity, class Query, class... Terms>
class ordered_query;

namespace detail {

/// Computes aggregates of each group: `run(visit)` calls `visit(row)` for all rows of type `Row`.
template <class Row, class By, class Aggregates, class Run>
[[nodiscard]] auto groups_of(By const& by, Aggregates const& empty, Run const& run) {
    using key = sorting_type<Row, By>;
    using values = typename Aggregates::values;
    constexpr bool only_value = std::is_same_v<Aggregates, aggregates_of<value_of_group>>;
    struct group {
        key value;
        Aggregates of;
    };
    group_index groups{[](void const* left, void const* right) {
                           return value_less{}(*static_cast<key const*>(left), *static_cast<key const*>(right));
                       },
        [](void* made) noexcept { delete static_cast<group*>(made); }};
    group* last = nullptr;
    result<void> read = run([&](Row const& row) {
        auto&& taken = sorting_value<By>::of(row, by);
        using own = std::is_same<std::remove_cvref_t<decltype(taken)>, key>;
        std::conditional_t<own::value, key const&, key const> held(taken); // a view of text is copied
        if (last == nullptr || !equal_values(last->value, held)) { last = static_cast<group*>(groups.find(&held)); }
        if (last == nullptr) {
            last = new group{held, empty};
            groups.add(&last->value, last);
        }
        last->of.take(row);
    });
    result<std::vector<std::conditional_t<only_value, key, std::pair<key, values>>>> made{std::in_place};
    bool fits = true;
    if (read) {
        groups.each([&](void* one) {
            auto& [value, of] = *static_cast<group*>(one);
            if constexpr (only_value) {
                made->emplace_back(std::move(value));
            } else {
                fits = of.finish(made->emplace_back(std::move(value), values{}).second) && fits;
            }
        });
        if (!fits) { read = sum_out_of_range(); }
    }
    made.fail_if(std::move(read));
    return made;
}

/// Whether a query can be sorted by a term.
template <class Query, class Entity, class Term>
inline constexpr bool can_order = sorts_by<Entity, typename Query::value_type, typename without_direction<Term>::type>;

/// Whether a query groups by this; does not compile otherwise.
template <class Entity, class Row, class By, class... Aggregates>
[[nodiscard]] constexpr bool can_group() {
    constexpr bool own =
        sorts_by<Entity, Row, By> && (aggregate<Aggregates> && ...) && are_of_fields<Entity, Aggregates...>;
    static_assert(own,
        "group_by(field, aggregates...) needs a field of the query's entity, day(...), computed(...) or a function of "
        "an "
        "entity, and aggregates of such fields: group_by(r::city, count(), min(r::age))");
    return own;
}

/// What a refused `group_by` returns. Depends on the group, so that a file without groups does not compile it.
template <class>
struct no_groups {
    using type = result<std::vector<std::pair<int, std::tuple<>>>>;
};

/// The terminal calls that any query computes from its `for_each` and its `fold` of aggregates.
template <class Query, class Entity>
class query_folds : public refused_query_names<Query> {
public:
    /// Computes `value = function(std::move(value), entity)` for all entities, with one page in memory.
    template <class Value, class Function>
        requires(!aggregate<Value>)
    [[nodiscard]] result<Value> fold(Value initial, Function&& function) const {
        result<Value> value{std::in_place, std::move(initial)};
        auto done = self().for_each([&](auto const& entity) { *value = function(*std::move(value), entity); });
        if (!done) { return std::move(done).as_failure(); }
        return value;
    }
    /// Returns the least value of a field; nullopt if there is none. Absent values and NaN do not count. Like `std::min`, it conflicts with
    /// the macro of that name in windows.h: define NOMINMAX.
    template <class Field>
    [[nodiscard]] auto(min)(Field field) const {
        constexpr bool own = is_field_of<Entity, Field>;
        static_assert(own, "min needs a field of the query's entity: min(r::age)");
        if constexpr (own) { return only((entitable::min)(field)); }
    }
    /// Returns the greatest value of a field; see `min`.
    template <class Field>
    [[nodiscard]] auto(max)(Field field) const {
        constexpr bool own = is_field_of<Entity, Field>;
        static_assert(own, "max needs a field of the query's entity: max(r::age)");
        if constexpr (own) { return only((entitable::max)(field)); }
    }
    /// Returns the sum of a field: std::int64_t for integers, with OutOfRangeInput if the sum or a partial sum overflows; double for
    /// others. Absent values do not count.
    template <class Field>
    [[nodiscard]] auto sum(Field field) const {
        constexpr bool own = is_field_of<Entity, Field>;
        constexpr bool is_number = is_summable_if<own, Field>;
        static_assert(own, "sum needs a field of the query's entity: sum(r::age)");
        static_assert(is_number || !own, "sum needs a numeric member that fits into std::int64_t or double");
        if constexpr (is_number) { return only(entitable::sum(field)); }
    }

    /// Returns the distinct values of a member, of a computed value, or of a function of the entity, in their order: see `group_by`.
    /// Cost: as `group_by`.
    template <class By>
    [[nodiscard]] auto distinct(By by) const {
        return self().group_by(std::move(by), value_of_group{});
    }

    /// Returns the same query with its rows sorted by these members, computed values or functions of the entity, of which the first has
    /// priority: `order_by(descending(r::age), r::name)`. The client reads all rows and sorts them. Rows with equal values keep the order
    /// of the query. See `ordered_query`.
    template <class... Terms>
    [[nodiscard]] auto order_by(Terms... terms) const {
        constexpr bool own = sizeof...(Terms) > 0 && (can_order<Query, Entity, Terms> && ...);
        static_assert(own,
            "order_by(...) needs fields of the query's entity, day(...), computed(...) or functions of an entity: "
            "order_by(descending(r::age), r::name)");
        if constexpr (own) {
            return ordered_query<Entity, Query, Terms...>{self(), std::tuple<Terms...>{std::move(terms)...}};
        } else {
            return self();
        }
    }
    /// Returns a query for the `count` rows with the greatest values of a member, a computed value or a function of the entity, the
    /// greatest first: `order_by(descending(by)).take(count)`. The client reads all rows and holds `count` of them.
    template <class By>
    [[nodiscard]] auto top(std::uint64_t count, By by) const {
        return order_by(entitable::descending(std::move(by))).take(count);
    }
    /// Returns a query for the `count` rows with the least values, the least first: see `top`.
    template <class By>
    [[nodiscard]] auto bottom(std::uint64_t count, By by) const {
        return order_by(entitable::ascending(std::move(by))).take(count);
    }

protected:
    [[nodiscard]] Query const& self() const { return *static_cast<Query const*>(this); }
    /// Computes one aggregate.
    template <class Aggregate>
    [[nodiscard]] result<typename Aggregate::value_type> only(Aggregate aggregate) const {
        ENTITABLE_TRY(auto values, self().fold(aggregate));
        return std::get<0>(std::move(values));
    }
};

/// The terminal calls of a query that reads whole rows by `for_each`.
template <class Query, class Entity, class Row = Entity>
class entity_folds : public query_folds<Query, Entity> {
public:
    using query_folds<Query, Entity>::fold;
    /// See `query::fold`: of aggregates of fields of the entity.
    template <aggregate... Aggregates>
    [[nodiscard]] result<std::tuple<typename Aggregates::value_type...>> fold(Aggregates... aggregates) const {
        constexpr bool own = are_of_fields<Entity, Aggregates...>;
        static_assert(own, "fold(...) needs aggregates of fields of the query's entity");
        result<std::tuple<typename Aggregates::value_type...>> values{std::in_place};
        if constexpr (own) {
            aggregates_of<Aggregates...> all{{aggregates}...};
            auto read = this->self().for_each([&](Row const& one) { all.take(one); });
            if (read && !all.finish(*values)) { read = sum_out_of_range(); }
            values.fail_if(std::move(read));
        }
        return values;
    }
    /// See `query::exists`. Cost: the same as `first`.
    [[nodiscard]] result<bool> exists() const {
        auto found = this->self().first();
        return found ? result<bool>{found->has_value()} : std::move(found).as_failure();
    }
    /// See `query::count`. Cost: the same as reading the entities.
    [[nodiscard]] result<std::uint64_t> count() const { return this->only(entitable::count()); }
    /// See `query::group_by`.
    template <class By, class... Aggregates>
    [[nodiscard]] auto group_by(By by, Aggregates... aggregates) const {
        constexpr bool own = can_group<Entity, Row, By, Aggregates...>();
        if constexpr (own) {
            return groups_of<Row>(by, aggregates_of<Aggregates...>{{aggregates}...},
                [&](auto const& visit) { return this->self().for_each(visit); });
        } else {
            return typename no_groups<By>::type{std::in_place};
        }
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
