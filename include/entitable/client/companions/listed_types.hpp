// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The types of a table of several types: which of them are entities, indexes and sums, and whether their keys are distinguished. Compile
/// time only.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/aggregate/aggregate_declarations.hpp>
#include <entitable/client/companions/index/index_declarations.hpp>
#include <entitable/client/companions/log/log_options.hpp>
#include <entitable/client/mapping/key_pattern.hpp>
#include <entitable/client/update.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Marks a type of a table as an entity although it looks like an index or a sum of another type of the table:
/// `table<runner, as_entity<by_age>>` reads and writes both, and the program itself keeps them equal.
template <class Entity>
struct as_entity {};

struct wide_written; // see `<entitable/wide.hpp>`

namespace detail {

template <class... Types>
struct type_list {
    static constexpr std::size_t size = sizeof...(Types);
};

// ---- classification of the types of a list ----------------------------------------------------------

/// Classifies a type only by its declaration.
template <class Declared>
struct listed_type {
    using type = Declared;
    static constexpr bool always_entity = false;
    static constexpr bool always_index = false;
    static constexpr bool always_sum = false;
    static constexpr bool is_wide = false;
};
template <class Entity>
struct listed_type<as_entity<Entity>> : listed_type<Entity> {
    static constexpr bool always_entity = true;
};
template <class Entity>
struct listed_type<wide<Entity>> : listed_type<Entity> {
    static constexpr bool always_entity = true;
    static constexpr bool is_wide = true;
};
template <class Index>
struct listed_type<unique<Index>> : listed_type<Index> {
    static constexpr bool always_index = true;
};
template <class Index>
struct listed_type<elsewhere<Index>> : listed_type<Index> {
    static constexpr bool always_index = true;
};
template <class Aggregate, auto Part, std::size_t Buckets>
struct listed_type<salted_aggregate<Aggregate, Part, Buckets>> : listed_type<Aggregate> {
    static constexpr bool always_sum = true;
};
template <class Declared>
using type_of_listed = typename listed_type<Declared>::type;

/// Whether a type derives from another type, without additional members.
template <class Type, class Other>
inline constexpr bool extends =
    std::is_base_of_v<Other, Type> && !std::is_same_v<Other, Type> && sizeof(Other) == sizeof(Type);

template <class Declared, class... All>
inline constexpr bool is_listed_index = listed_type<Declared>::always_index ||
    (!listed_type<Declared>::always_entity && (extends<type_of_listed<Declared>, type_of_listed<All>> || ...));
template <class Declared, class... All>
inline constexpr bool is_listed_sum = listed_type<Declared>::always_sum ||
    (!listed_type<Declared>::always_entity && (aggregates<type_of_listed<All>, type_of_listed<Declared>> || ...));
template <class Declared, class... All>
inline constexpr bool is_listed_entity =
    !is_log<Declared> && !is_listed_index<Declared, All...> && !is_listed_sum<Declared, All...>;

/// The position of the change log in a list; the size of the list without one.
template <class... Declared>
inline constexpr std::size_t position_of_log = [] {
    std::size_t position = 0;
    bool found = false;
    ((found = found || is_log<Declared>, position += found ? 0U : 1U), ...);
    return position;
}();
/// The number of lanes of the change log of a list; 0 without one.
template <class... Declared>
inline constexpr std::size_t lanes_of_log = 0;
template <class Declared, class... More>
inline constexpr std::size_t lanes_of_log<Declared, More...> = lanes_of_log<More...>;
template <log_options Options, class... More>
inline constexpr std::size_t lanes_of_log<logged_with<Options>, More...> = Options.lanes;

/// Whether a type is a wide entity of the list.
template <class Type, class... Declared>
inline constexpr bool is_wide_in =
    ((listed_type<Declared>::is_wide && std::is_same_v<Type, type_of_listed<Declared>>) || ...);
/// Outcome of a write.
template <class Type, class... Declared>
using written_of = std::conditional_t<is_wide_in<Type, Declared...>, wide_written, written>;
/// Outcome of an update.
template <class Type, class... Declared>
using updated_of = std::conditional_t<is_wide_in<Type, Declared...>, wide_written, updated<Type>>;

/// Appends a type to a list if `Wanted` is true.
template <class List, bool Wanted, class Type>
struct chosen_into {
    using type = List;
};
template <class... Types, class Type>
struct chosen_into<type_list<Types...>, true, Type> {
    using type = type_list<Types..., Type>;
};

/// The types of a list, sorted into entities, indexes and sums.
template <class Entities, class Indexes, class Sums, class All, class... Left>
struct sorted_types {
    using entities = Entities; ///< the entities of one row, without their wrappers
    using indexes = Indexes;   ///< the indexes, as declared
    using sums = Sums;         ///< the sums, as declared
};
template <class Entities, class Indexes, class Sums, class... All, class First, class... Left>
struct sorted_types<Entities, Indexes, Sums, type_list<All...>, First, Left...>
    : sorted_types<typename chosen_into<Entities, is_listed_entity<First, All...> && !listed_type<First>::is_wide,
                       type_of_listed<First>>::type,
          typename chosen_into<Indexes, is_listed_index<First, All...>, First>::type,
          typename chosen_into<Sums, !is_listed_index<First, All...> && is_listed_sum<First, All...>, First>::type,
          type_list<All...>, Left...> {};
template <class... Declared>
using types_of = sorted_types<type_list<>, type_list<>, type_list<>, type_list<Declared...>, Declared...>;
template <class... Declared>
using entities_of = typename types_of<Declared...>::entities;

/// The types that a batch accepts: the entities; and the wide entities, which it refuses.
template <class List, class... Declared>
struct batched_types {
    using type = List;
};
template <class List, class First, class... Left>
struct batched_types<List, First, Left...>
    : batched_types<typename chosen_into<List, listed_type<First>::is_wide, First>::type, Left...> {};

/// Position of a type in a list of declarations; the size of the list if it is not listed.
template <class Type, class List>
inline constexpr std::size_t position_in_list = 0;
template <class Type, class... Declared>
inline constexpr std::size_t position_in_list<Type, type_list<Declared...>> = [] {
    std::size_t position = 0;
    bool found = false;
    ((found = found || std::is_same_v<Type, type_of_listed<Declared>>, position += found ? 0U : 1U), ...);
    return position;
}();

template <class Type, class List>
inline constexpr bool is_in_list = position_in_list<Type, List> < List::size;

/// Finds the declaration of a type in a list; void if it is not listed.
template <class Type, class... Declared>
struct declaration_among {
    using type = void;
};
template <class Type, class First, class... More>
struct declaration_among<Type, First, More...> : std::conditional_t<std::is_same_v<Type, type_of_listed<First>>,
                                                     std::type_identity<First>, declaration_among<Type, More...>> {};
template <class Type, class List>
struct declaration_in_list;
template <class Type, class... Declared>
struct declaration_in_list<Type, type_list<Declared...>> : declaration_among<Type, Declared...> {};

/// The entity of an index: the first of the list that it derives from.
template <class Index, class List>
struct entity_of_index {
    using type = void;
};
template <class Index, class First, class... More>
struct entity_of_index<Index, type_list<First, More...>>
    : std::conditional_t<extends<Index, First>, std::type_identity<First>, entity_of_index<Index, type_list<More...>>> {
};

/// Whether no row can belong to both types. The rows of a log are system rows.
template <class One, class Other>
inline constexpr bool are_listed_apart = [] {
    if constexpr (is_log<One> || is_log<Other>) {
        return true;
    } else {
        return are_told_apart<One, Other>;
    }
}();

/// Whether rows of another type of the list can be in the same partitions.
template <class Type, class Other>
inline constexpr bool shares_partition_with =
    !std::is_same_v<Type, Other> && !pattern_of_type<Type>.partition.differs_from(pattern_of_type<Other>.partition);
template <class Type, log_options Options> // rows of a log are system rows, which readers skip
inline constexpr bool shares_partition_with<Type, logged_with<Options>> = false;
template <class Type, class... Types>
inline constexpr bool shares_partitions_with = (shares_partition_with<Type, Types> || ...);

/// Whether the keys of a type differ from those of all other types of the list. Then an index elsewhere can be in the table itself.
template <class Type, class... Declared>
inline constexpr bool is_told_apart_in = (are_listed_apart<Type, type_of_listed<Declared>> && ...);

// ---- diagnostics -------------------------------------------------------------------------------------

/// Has a member function of this name. In a class that inherits from this class and from another class with such a
/// member, the name is ambiguous.
struct with_subtract {
    void subtract();
};
template <class Type>
struct named_probe : Type, with_subtract {};
template <class Type>
concept has_subtract = std::is_class_v<Type> && !std::is_final_v<Type> && !requires { &named_probe<Type>::subtract; };

template <class Declared, class... Entities>
consteval void allow_index_of(type_list<Entities...>) {
    using entity = typename entity_of_index<type_of_listed<Declared>, type_list<Entities...>>::type;
    constexpr bool listed = !std::is_void_v<entity>;
    static_assert(listed, "this is an index of an entity that is not a type of the table");
    if constexpr (listed) { allow_index<entity, Declared>(); }
}
template <class Declared, class... Entities>
consteval void allow_sum_of(type_list<Entities...>) {
    constexpr bool listed = (aggregates<Entities, type_of_listed<Declared>> || ...);
    static_assert(listed,
        "this type has a function subtract(...) and is not a sum of an entity of this table: a sum has static "
        "daily_sales key(order const&), void add(order const&) and void subtract(order const&)");
    if constexpr (listed) { allow_aggregate<Declared>(); }
}

/// Reports in one line why a change log of a list is invalid.
template <class Log, class First, class... More>
consteval bool allow_log() {
    constexpr bool after_an_entity = !is_log<First>;
    static_assert(after_an_entity, "logged comes after the entities: table<order, logged>");
    constexpr bool once = std::size_t{is_log<First>} + (std::size_t{is_log<More>} + ... + 0) == 1;
    static_assert(!after_an_entity || once, "a table has one change log: list logged once");
    constexpr bool no_wide = !listed_type<First>::is_wide && (!listed_type<More>::is_wide && ...);
    static_assert(no_wide, "the changes of a wide entity cannot be logged: put it into a table without logged");
    constexpr bool has_lanes = Log::options.lanes >= 1 && Log::options.lanes <= 64;
    static_assert(has_lanes, "a change log must have 1 to 64 lanes");
    return true; // the error was reported
}

template <class Declared, class... All>
consteval bool allow_type_of_rows() {
    using type = type_of_listed<Declared>;
    constexpr bool mapped = mapped_entity<type>;
    constexpr bool wide_companion = !listed_type<Declared>::always_entity &&
        ((listed_type<All>::is_wide && (extends<type, type_of_listed<All>> || aggregates<type_of_listed<All>, type>)) ||
            ...);
    if constexpr (wide_companion) { refuse_wide<type>(); }
    static_assert(mapped, "every type of a table needs an ENTITABLE(...)");
    if constexpr (mapped && ((is_log<All> || mapped_entity<type_of_listed<All>>) && ...)) {
        constexpr bool once = (std::size_t{std::is_same_v<type, type_of_listed<All>>} + ...) == 1;
        static_assert(once, "a type is listed twice in a table");
        constexpr bool away = index_declaration<Declared>::is_elsewhere; // checked when the table is known
        constexpr bool apart =
            away || ((index_declaration<All>::is_elsewhere || are_listed_apart<type, type_of_listed<All>>) && ...);
        static_assert(apart,
            "the row keys of two types of this table are ambiguous: begin them with different literals, for example "
            "row_key(literal(\"ORDER:\"), number)");
        if constexpr (wide_companion) {
            return true;
        } else if constexpr (is_listed_index<Declared, All...>) {
            allow_index_of<Declared>(entities_of<All...>{});
        } else if constexpr (is_listed_sum<Declared, All...> ||
            (has_subtract<type> && !listed_type<Declared>::always_entity)) {
            allow_sum_of<Declared>(entities_of<All...>{});
        }
    }
    return true; // the error was reported
}

/// Reports in one line why a type of a list is invalid.
template <class Declared, class... All>
consteval bool allow_type() {
    if constexpr (is_log<Declared>) {
        return allow_log<Declared, All...>();
    } else {
        return allow_type_of_rows<Declared, All...>();
    }
}

template <class... Declared, class... Others>
consteval bool has_company(type_list<Declared...> all, types<Others...>) {
    return (is_in_list<type_of_listed<Others>, decltype(all)> && ...);
}
/// Reports in one line that a table's list lacks a type that another listed type requires.
template <class Type, class... All>
consteval bool allow_company() {
    if constexpr (requires { typename type_of_listed<Type>::lives_with; }) {
        constexpr bool complete = has_company(type_list<All...>{}, typename type_of_listed<Type>::lives_with{});
        static_assert(complete,
            "the lives_with of this entity requires other types: use table<runner, by_age, daily_sales> with all of "
            "them, or "
            "reader<runner> to read");
    }
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
