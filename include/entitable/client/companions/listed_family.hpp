// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Makes the family of a table of several types: its indexes and sums for the engine, without their types.

#include <entitable/client/companions/aggregate/detail/listed_sums.hpp>
#include <entitable/client/companions/index/detail/index_build.hpp>
#include <entitable/client/companions/index/detail/maintaining.hpp>
#include <entitable/client/companions/index/detail/sum_audit.hpp>
#include <entitable/client/companions/index/indexed_query.hpp>
#include <entitable/client/companions/listed_types.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Adds the index rows of an entity of one type; false if the row is of a different type.
template <class Entity, class... Entities, class... Declared>
[[nodiscard]] bool derive_rows_of(row_view stored, reading mode, index_rows& made, result<void>& outcome,
    type_list<Entities...>, type_list<Declared...>) {
    if (!pattern_of_type<Entity>.matches(stored.partition_key, stored.row_key)) { return false; }
    constexpr auto is_its = []<class One>(type_list<One>) {
        return std::is_same_v<typename entity_of_index<type_of_listed<One>, type_list<Entities...>>::type, Entity>;
    };
    if constexpr ((is_its(type_list<Declared>{}) || ...)) {
        Entity entity{};
        outcome = from_row(stored, entity, mode);
        std::size_t at = 0;
        auto const add = [&]<class One>(type_list<One> declared) {
            if constexpr (is_its(declared)) {
                auto row_of_index = index_row<Entity, type_of_listed<One>>(entity);
                if (row_of_index) {
                    made[at] = *std::move(row_of_index);
                } else {
                    outcome = of_index(std::move(row_of_index).as_failure(), mapping<type_of_listed<One>>::entity_name);
                }
            }
            ++at;
        };
        if (outcome) { (add(type_list<Declared>{}), ...); }
    }
    return true;
}

/// The functions of a list that its family calls.
template <class Entities, class Indexes, class Sums>
struct listed_rows_of;

template <class... Entities, class... Indexes, class... Sums>
struct listed_rows_of<type_list<Entities...>, type_list<Indexes...>, type_list<Sums...>> {
    [[nodiscard]] static result<void> derive(row_view stored, reading mode, index_rows& made) {
        made.clear();
        made.resize(sizeof...(Indexes) + sizeof...(Sums));
        result<void> outcome;
        static_cast<void>(
            (derive_rows_of<Entities>(stored, mode, made, outcome, type_list<Entities...>{}, type_list<Indexes...>{}) ||
                ...));
        return outcome;
    }

    template <class Entity>
    [[nodiscard]] static entity_type type_for() {
        entity_type made{&pattern_of_type<Entity>,
            (std::is_same_v<typename entity_of_index<type_of_listed<Indexes>, type_list<Entities...>>::type, Entity> ||
                ...),
            {}};
        std::size_t position = sizeof...(Indexes);
        [[maybe_unused]] auto const look = [&]<class Declared>(type_list<Declared>) {
            if constexpr (aggregates<Entity, type_of_listed<Declared>>) {
                made.sums.push_back({position, &place_in_sums<Entity, Declared>, &fold_into_sums<Entity, Declared>});
            }
            ++position;
        };
        (look(type_list<Sums>{}), ...);
        return made;
    }
    template <class Index>
    [[nodiscard]] static index_shape shape_for_index() {
        using entity = typename entity_of_index<type_of_listed<Index>, type_list<Entities...>>::type;
        return shape_of<entity, Index>();
    }
    template <class Declared>
    [[nodiscard]] static index_shape shape_for_sums() {
        using type = type_of_listed<Declared>;
        index_shape made;
        made.name = mapping<type>::entity_name;
        made.definition = definition_of_sums<Declared>();
        made.type = &pattern_of_type<type>;
        made.without_sums = &empty_sums<Declared>;
        return made;
    }

    template <class... Places>
    [[nodiscard]] static shared<index_family> make(
        table_core const& main, table_options const& how, in_table<Places> const&... places) {
        return shared<index_family>::make(main,
            std::vector<index_shape>{shape_for_index<Indexes>()..., shape_for_sums<Sums>()...},
            std::vector<table_core>{place_of_index<type_of_listed<Indexes>, Places...>(main, places...)...,
                (static_cast<void>(sizeof(Sums*)), main)...},
            &derive, std::vector<entity_type>{type_for<Entities>()...}, how);
    }
};

template <class... Declared>
using rows_of_list = listed_rows_of<typename types_of<Declared...>::entities, typename types_of<Declared...>::indexes,
    typename types_of<Declared...>::sums>;

// ---- the sums of one partition ----------------------------------------------------------------------

template <class Type, class... P, class... Keys>
[[nodiscard]] result<std::string> partition_of_type(components<void, P...>, Keys const&... values) {
    return key_from<P...>(mapping<Type>::partition_layout, values...);
}

template <class PartitionComponents, class... Keys>
inline constexpr bool names_partition = false;
template <class... P, class... Keys>
inline constexpr bool names_partition<components<void, P...>, Keys...> = sizeof...(P) == sizeof...(Keys);

/// Reports in one line why a type or its keys do not name sums of one partition.
template <bool IsSum, class Sums, class... Keys>
consteval bool allow_sums() {
    allow_sum<IsSum>();
    constexpr bool named = names_partition<typename mapping<Sums>::partition_components, Keys...>;
    static_assert(!IsSum || named, "name the partition by the components of its key: verify<daily_sales>(\"ACME\")");
    return IsSum && named;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
