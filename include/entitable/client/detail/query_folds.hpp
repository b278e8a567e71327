// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Groups of entities with equal values of a field, and the folds of queries that read whole entities.

#include <entitable/client/aggregate.hpp>
#include <entitable/client/detail/group_index.hpp>
#include <entitable/client/detail/refused_calls.hpp>
#include <entitable/client/selected.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Computes aggregates of each group: `run(visit)` calls `visit(row)` for all rows.
template <class Field, class... Aggregates, class Run>
[[nodiscard]] auto groups_of(Field field, std::tuple<Aggregates...> const& empty, Run const& run) {
    using key = typename Field::value_type;
    using values = std::tuple<typename Aggregates::value_type...>;
    struct group {
        key value;
        std::tuple<Aggregates...> of;
    };
    group_index groups{[](void const* left, void const* right) {
                           return value_less{}(*static_cast<key const*>(left), *static_cast<key const*>(right));
                       },
        [](void* made) noexcept { delete static_cast<group*>(made); }};
    group* last = nullptr;
    result<void> read = run([&](auto const& row) {
        key const& held = value_of(row, field);
        if (last == nullptr || !equal_values(last->value, held)) { last = static_cast<group*>(groups.find(&held)); }
        if (last == nullptr) {
            last = new group{held, empty};
            groups.add(&last->value, last);
        }
        std::apply([&](auto&... each) { (each.take(row), ...); }, last->of);
    });
    result<std::vector<std::pair<key, values>>> made{std::in_place};
    if (!read) {
        made = std::move(read).as_failure();
        return made;
    }
    groups.each([&](void* one) {
        auto& [value, of] = *static_cast<group*>(one);
        auto finished = std::apply([](auto&... each) { return finish_all(each...); }, of);
        if (finished && made) {
            made->emplace_back(std::move(value), *std::move(finished));
        } else if (made) {
            made = std::move(finished).as_failure();
        }
    });
    return made;
}

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

protected:
    [[nodiscard]] Query const& self() const { return *static_cast<Query const*>(this); }
    /// Computes one aggregate.
    template <class Aggregate>
    [[nodiscard]] result<typename Aggregate::value_type> only(Aggregate aggregate) const {
        auto values = self().fold(aggregate);
        if (!values) { return std::move(values).as_failure(); }
        return std::get<0>(*std::move(values));
    }
};

/// The endings of `query` for one that reads whole entities by `for_each`.
template <class Query, class Entity>
class entity_folds : public query_folds<Query, Entity> {
public:
    using query_folds<Query, Entity>::fold;
    /// See `query::fold`: of aggregates of fields of the entity.
    template <aggregate... Aggregates>
    [[nodiscard]] result<std::tuple<typename Aggregates::value_type...>> fold(Aggregates... aggregates) const {
        constexpr bool own = are_of_fields<Entity, Aggregates...>;
        static_assert(own, "fold(...) needs aggregates of fields of the query's entity");
        if constexpr (own) {
            auto read = this->self().for_each([&](Entity const& one) { (aggregates.take(one), ...); });
            if (!read) { return std::move(read).as_failure(); }
        }
        return finish_all(aggregates...);
    }
    /// See `query::count`. Cost: the same as reading the entities.
    [[nodiscard]] result<std::uint64_t> count() const { return this->only(entitable::count()); }
    /// See `query::group_by`.
    template <class Field, aggregate... Aggregates>
        requires(is_field_of<Entity, Field> && are_of_fields<Entity, Aggregates...>)
    [[nodiscard]] auto group_by(Field field, Aggregates... aggregates) const {
        return groups_of(
            field, std::tuple{aggregates...}, [&](auto const& visit) { return this->self().for_each(visit); });
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
