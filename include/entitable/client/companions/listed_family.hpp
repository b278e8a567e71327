// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Makes the family of a table of several types: its indexes and sums for the engine, without their types.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/aggregate/detail/listed_sums.hpp>
#include <entitable/client/companions/index/detail/index_build.hpp>
#include <entitable/client/companions/index/detail/maintaining.hpp>
#include <entitable/client/companions/index/detail/sum_audit.hpp>
#include <entitable/client/companions/index/indexed_query.hpp>
#include <entitable/client/companions/listed_types.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether a declared index has rows of an entity type.
template <class Entity, class Entities, class Declared>
inline constexpr bool is_index_of =
    std::is_same_v<typename entity_of_index<type_of_listed<Declared>, Entities>::type, Entity>;

/// What an entity is decoded into: its first index, which extends it; the entity itself without an index.
template <class Entity, class Entities, class... Declared>
struct decoded_as {
    using type = Entity;
};
template <class Entity, class Entities, class First, class... More>
struct decoded_as<Entity, Entities, First, More...>
    : std::conditional_t<is_index_of<Entity, Entities, First>, std::type_identity<type_of_listed<First>>,
          decoded_as<Entity, Entities, More...>> {};

/// Makes the rows of an entity in its indexes. `decoded`: see `decoded_as`. Stops at an error.
template <class Entity, class Entities, class Decoded, class Take, class... Declared>
[[nodiscard]] result<void> make_index_rows(
    Decoded& decoded, [[maybe_unused]] Take const& take, Entities, type_list<Declared...>) {
    result<void> outcome;
    std::size_t at = 0;
    [[maybe_unused]] auto const encode = [&]<class Index>(Index const& one) {
        if (lacks_key_component(one)) { return; }
        row made;
        outcome = to_row(one, made);
        outcome = outcome ? take(at, std::move(made))
                          : of_index(std::move(outcome).as_failure(), mapping<Index>::entity_name);
    };
    [[maybe_unused]] auto const add = [&]<class One>(type_list<One>) {
        using index = type_of_listed<One>;
        if constexpr (is_index_of<Entity, Entities, One>) {
            if constexpr (std::is_same_v<Decoded, index>) {
                encode(decoded);
            } else {
                index other{};
                static_cast<Entity&>(other) = std::move(static_cast<Entity&>(decoded));
                encode(other);
                static_cast<Entity&>(decoded) = std::move(static_cast<Entity&>(other));
            }
        }
        ++at;
        return outcome.has_value();
    };
    static_cast<void>((add(type_list<Declared>{}) && ...));
    return outcome;
}

/// Adds the index rows of an entity of one type; false if the row is of a different type.
template <class Entity, class Entities, class... Declared>
[[nodiscard]] bool derive_rows_of(row_view stored, reading mode, index_rows& made, result<void>& outcome,
    Entities entities, type_list<Declared...> declared) {
    if (!pattern_of_type<Entity>.matches(stored.partition_key, stored.row_key)) { return false; }
    if constexpr ((is_index_of<Entity, Entities, Declared> || ...)) {
        typename decoded_as<Entity, Entities, Declared...>::type decoded{};
        outcome = from_row(stored, static_cast<Entity&>(decoded), mode);
        auto const take = [&](std::size_t index, row&& one) {
            made[index] = std::move(one);
            return result<void>{};
        };
        if (outcome) { outcome = make_index_rows<Entity>(decoded, take, entities, declared); }
    }
    return true;
}

/// The functions of a list that its family calls.
template <class Entities, class Indexes, class Sums, std::size_t Lanes, std::size_t FeedLanes>
struct listed_rows_of;

template <class... Entities, class... Indexes, class... Sums, std::size_t Lanes, std::size_t FeedLanes>
struct listed_rows_of<type_list<Entities...>, type_list<Indexes...>, type_list<Sums...>, Lanes, FeedLanes> {
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
    using decoded_as = typename detail::decoded_as<Entity, type_list<Entities...>, Indexes...>::type;

    template <class Entity>
    [[nodiscard]] static result<decoded_entity> decode(row_view stored, reading mode) {
        Entity* const entity = new decoded_as<Entity>{};
        result<decoded_entity> made{decoded_entity{
            entity, [](void* object) { delete static_cast<decoded_as<Entity>*>(static_cast<Entity*>(object)); }}};
        made.fail_if(from_row(stored, *entity, mode));
        return made;
    }
    template <class Entity>
    [[nodiscard]] static result<void> derive_decoded(
        void* entity, function_ref<result<void>(std::size_t index, row&& made)> take) {
        auto& decoded = static_cast<decoded_as<Entity>&>(*static_cast<Entity*>(entity));
        return make_index_rows<Entity>(decoded, take, type_list<Entities...>{}, type_list<Indexes...>{});
    }
    template <class Entity>
    [[nodiscard]] static entity_type type_for() {
        entity_type made{&pattern_of_type<Entity>, (is_index_of<Entity, type_list<Entities...>, Indexes> || ...), {},
            &decode<Entity>, &derive_decoded<Entity>};
        std::size_t position = sizeof...(Indexes);
        [[maybe_unused]] auto const look = [&]<class Declared>(type_list<Declared>) {
            if constexpr (aggregates<Entity, type_of_listed<Declared>>) {
                made.sums.push_back({position, &key_of_sums<Entity, Declared>, &place_in_sums<Entity, Declared>,
                    &fold_into_sums<Entity, Declared>, &are_alike_in_sums<Entity, Declared>});
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
        std::vector<index_shape> shapes{shape_for_index<Indexes>()..., shape_for_sums<Sums>()...};
        std::vector<table_core> tables{place_of_index<type_of_listed<Indexes>, Places...>(main, places...)...,
            (static_cast<void>(sizeof(Sums*)), main)...};
        shared<log_of_table> log;
        if constexpr (Lanes > 0) {
            log = shared<log_of_table>::make(Lanes, shapes.size(), FeedLanes);
            shapes.push_back(shape_of_log(Lanes, FeedLanes));
            tables.push_back(main);
        }
        return shared<index_family>::make(main, std::move(shapes), std::move(tables), &derive,
            std::vector<entity_type>{type_for<Entities>()...}, how, std::move(log));
    }
};

template <class... Declared>
using rows_of_list = listed_rows_of<typename types_of<Declared...>::entities, typename types_of<Declared...>::indexes,
    typename types_of<Declared...>::sums, lanes_of_log<Declared...>, feed_lanes_of<Declared...>>;

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

#endif
