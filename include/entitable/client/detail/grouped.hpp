// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Groups of entities with equal values of a field, and the folds of queries that read whole entities.

#include <entitable/client/aggregate.hpp>
#include <entitable/client/detail/group_index.hpp>
#include <entitable/client/selected.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Computes aggregates of each group: `run(visit)` calls `visit(row)` for all rows.
template <class Field, class... Aggregates, class Run>
[[nodiscard]] auto grouped(Field field, std::tuple<Aggregates...> const& empty, Run const& run) {
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

/// The endings of `query` for one that reads whole entities by `for_each`.
template <class Query, class Entity>
class entity_folds {
public:
    /// See `query::count`. Cost: that of reading the entities.
    [[nodiscard]] result<std::uint64_t> count() const { return only(entitable::count()); }
    /// See `query::fold`.
    template <class Value, class Function>
        requires(!aggregate<Value>)
    [[nodiscard]] result<Value> fold(Value initial, Function&& function) const {
        result<Value> value{std::in_place, std::move(initial)};
        value.fail_if(run([&](Entity const& one) { *value = function(*std::move(value), one); }));
        return value;
    }
    /// See `query::fold`: of aggregates of fields of the entity.
    template <aggregate... Aggregates>
    [[nodiscard]] result<std::tuple<typename Aggregates::value_type...>> fold(Aggregates... aggregates) const {
        constexpr bool own = are_of_fields<Entity, Aggregates...>;
        static_assert(own, "fold(...) needs aggregates of fields of the query's entity");
        if constexpr (own) {
            auto read = run([&](Entity const& one) { (aggregates.take(one), ...); });
            if (!read) { return std::move(read).as_failure(); }
        }
        return finish_all(aggregates...);
    }
    /// See `query::group_by`.
    template <class Field, aggregate... Aggregates>
        requires(is_field_of<Entity, Field> && are_of_fields<Entity, Aggregates...>)
    [[nodiscard]] auto group_by(Field field, Aggregates... aggregates) const {
        return grouped(field, std::tuple{aggregates...}, [&](auto const& visit) { return run(visit); });
    }
    /// See `query::min`.
    template <class Field>
    [[nodiscard]] auto(min)(Field field) const {
        return only((entitable::min)(field));
    }
    /// See `query::max`.
    template <class Field>
    [[nodiscard]] auto(max)(Field field) const {
        return only((entitable::max)(field));
    }
    /// See `query::sum`.
    template <class Field>
    [[nodiscard]] auto sum(Field field) const {
        return only(entitable::sum(field));
    }

private:
    template <class Visit>
    [[nodiscard]] result<void> run(Visit const& visit) const {
        return static_cast<Query const*>(this)->for_each(visit);
    }
    template <class Aggregate>
    [[nodiscard]] result<typename Aggregate::value_type> only(Aggregate aggregate) const {
        auto values = fold(aggregate);
        if (!values) { return std::move(values).as_failure(); }
        return std::get<0>(*std::move(values));
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
