// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Calls that do not compile, with one message each: wrong conditions, and the names that other libraries have for our calls.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/partial_merge.hpp>
#include <entitable/client/query/comparison.hpp>
#include <entitable/core/request/requests.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Accepts the conditions on an entity, including types derived from `predicate`.
template <class Entity, shape_set Shapes, shape_set Negated>
void accept_condition(predicate<Entity, Shapes, Negated> const&);
template <class Entity>
void accept_condition(refused_predicate);

template <class Entity, class Given>
concept condition_on = requires(Given const& given) { detail::accept_condition<Entity>(given); };
/// Whether the arguments of `where` are something other than one condition on the entity.
template <class Entity, class... Given>
concept no_condition = sizeof...(Given) != 1 || !(condition_on<Entity, Given> && ...);

template <class T>
inline constexpr bool is_condition_of_another = false;
template <class Other, shape_set Shapes, shape_set Negated>
inline constexpr bool is_condition_of_another<predicate<Other, Shapes, Negated>> = true;

/// Reports in one line why the arguments of `where` are not a condition.
template <class... Given>
consteval refused_predicate refuse_condition() {
    constexpr bool one = sizeof...(Given) == 1;
    constexpr bool assigns = (is_member_change<Given> || ...);
    constexpr bool alone = (is_field<Given> || ...);
    constexpr bool foreign = one && (is_condition_of_another<Given> || ...);
    static_assert(!assigns, "a condition compares members with ==: = assigns a member in a merge");
    static_assert(!alone, "a member alone is not a condition: compare it, as in r::finished == true");
    static_assert(one || assigns || alone,
        "where(...) takes one condition: join several with && or ||; for all entities call scan_table()");
    static_assert(!foreign,
        "this condition has members of a different entity type than the table: use the fields of the table's entity");
    static_assert(assigns || alone || foreign || !one,
        "where(...) takes a condition on members, as in o::shop == \"A\": test a function of your own in "
        "for_each(...)");
    return {};
}

#define ENTITABLE_REFUSED_CALL(returned, name, text)  \
    template <class... Given>                         \
    returned name(Given const&...) const {            \
        static_assert(sizeof...(Given) > 1000, text); \
        return as_returned();                         \
    }

/// The names that other libraries have for the calls of a query.
template <class Query>
class refused_query_names {
public:
    ENTITABLE_REFUSED_CALL(Query const&, limit, "limit is called take: take(10) returns the first 10 entities")
    ENTITABLE_REFUSED_CALL(Query const&, skip,
        "no store skips entities without reading them: continue after a page with resume(token), see pages()")
    ENTITABLE_REFUSED_CALL(Query const&, offset,
        "no store skips entities without reading them: continue after a page with resume(token), see pages()")
    ENTITABLE_REFUSED_CALL(Query const&, sort, "sort is called order_by: order_by(r::age)")
    ENTITABLE_REFUSED_CALL(Query const&, all, "all is called to: to() returns all entities of the query")
    ENTITABLE_REFUSED_CALL(
        Query const&, to_list, "to_list is called to_vector, or to: to() returns all entities of the query")
    ENTITABLE_REFUSED_CALL(Query const&, where, "a query has one condition: join several with &&, as in where(a && b)")
    ENTITABLE_REFUSED_CALL(Query const&, avg, "avg is called average: fold(average(r::age))")

private:
    [[nodiscard]] Query const& as_returned() const noexcept { return static_cast<Query const&>(*this); }
};

/// The message for `begin()` of a table.
struct scan_table_or_where_reads_the_entities_of_a_table;

/// The names that other libraries have for the calls of a table.
class refused_table_names {
public:
    scan_table_or_where_reads_the_entities_of_a_table* begin() const
        ENTITABLE_REFUSED("read the entities of a table with scan_table() or where(...)");
    scan_table_or_where_reads_the_entities_of_a_table* end() const
        ENTITABLE_REFUSED("read the entities of a table with scan_table() or where(...)");

    ENTITABLE_REFUSED_CALL(
        result<written>, erase, "erase is called remove: remove(keys..., any_etag), or remove(entity, etag)")
    ENTITABLE_REFUSED_CALL(result<written>, put, "put is called insert_or_replace, or upsert")
    ENTITABLE_REFUSED_CALL(
        result<void>, all, "all entities of a table are scan_table().to(), which reads the whole table")
    ENTITABLE_REFUSED_CALL(
        result<std::uint64_t>, count, "count the entities of a query: where(...).count(), or scan_table().count()")
    ENTITABLE_REFUSED_CALL(result<void>, select, "select members of a query: where(...).select(r::name)")

private:
    [[nodiscard]] static failure as_returned() { return failure{error_code::invalid_input, {}}; }
};
#undef ENTITABLE_REFUSED_CALL

/// Names the required argument.
template <class Text>
consteval void refuse_text_as_store() {
    static_assert(sizeof(Text) == 0,
        "the first argument of a table is its store, as in memory_backend{}, "
        "azure_backend{\"UseDevelopmentStorage=true\"} or "
        "file_backend{\"orders.db\"}; the second is its name");
}

/// Whether values can be given for the components of keys.
template <class... Types>
struct values_wanted {
    /// Whether the first values fit, one for each component; more may follow.
    template <class... Given>
    static consteval bool are_first_of() {
        return sizeof...(Types) == 0;
    }
};
template <class Type, class... More>
struct values_wanted<Type, More...> {
    template <class... Given>
    static consteval bool are_first_of() {
        if constexpr (sizeof...(Given) <= sizeof...(More)) {
            return false;
        } else {
            return first_fits<Given...>();
        }
    }

private:
    template <class First, class... Rest>
    static consteval bool first_fits() {
        if constexpr (std::convertible_to<First const&, key_argument<Type>>) {
            return values_wanted<More...>::template are_first_of<Rest...>();
        } else {
            return false;
        }
    }
};

/// Reports that a removal has no condition.
template <class Given>
consteval void refuse_blind_removal() {
    static_assert(sizeof(Given) == 0,
        "a removal needs an ETag after the keys or the entity: pass the ETag that was read, or any_etag");
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
