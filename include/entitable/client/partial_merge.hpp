// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Some members of an entity, by its keys: `merge(at("ann", 7), o::status = "paid", any_etag)`.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/codec.hpp>
#include <entitable/client/mapping/component.hpp>
#include <entitable/client/mapping/detail/key_from.hpp>
#include <entitable/client/mapping/mapping.hpp>
#include <entitable/client/query/predicate.hpp>
#include <entitable/core/etag.hpp>
#include <entitable/core/try.hpp>

#include <tuple>

ENTITABLE_BEGIN_NAMESPACE

/// The components of an entity's keys, by reference: partition key first. Use it only in the expression that creates
/// it.
template <class... Values>
struct keys_at {
    std::tuple<Values const&...> values; ///< values in the order of the names
};

/// Names the entity with these components of its keys, partition key first.
template <class... Values>
[[nodiscard]] keys_at<Values...> at(Values const&... components) {
    return {{components...}};
}

namespace detail {

/// Makes keys from their components.
template <class Entity, class PartitionComponents, class RowComponents>
struct row_with_keys;

template <class Entity, class... P, class... R>
struct row_with_keys<Entity, components<void, P...>, components<void, R...>> {
    static constexpr std::size_t count = sizeof...(P) + sizeof...(R);

    [[nodiscard]] static result<row> make(
        key_argument<typename P::value_type> const&... partition, key_argument<typename R::value_type> const&... rows) {
        ENTITABLE_TRY(auto partition_key, key_from<P...>(mapping<Entity>::partition_layout, partition...));
        ENTITABLE_TRY(auto row_key, checked_row_key(key_from<R...>(mapping<Entity>::row_layout, rows...)));
        return row{partition_key, row_key, {}};
    }
};

/// Makes a row that contains only keys.
template <class Entity, class... Values>
[[nodiscard]] result<row> row_at(keys_at<Values...> const& keys) {
    using made =
        row_with_keys<Entity, typename mapping<Entity>::partition_components, typename mapping<Entity>::row_components>;
    constexpr bool complete = sizeof...(Values) == made::count;
    static_assert(complete, "at(...) must be given all key components of the entity, those of the partition key first");
    if constexpr (complete) {
        return std::apply([](auto const&... values) { return made::make(values...); }, keys.values);
    } else {
        return failure{error_code::invalid_input, {}}; // the reason was reported
    }
}

/// The entity type of the changes of members; without changes, the first type of the table.
template <class First, class... Given>
struct entity_of_changes_in {
    using type = First;
};
template <class First, class Entity, auto Member, class... More>
struct entity_of_changes_in<First, member_change<Entity, Member>, More...> {
    using type = Entity;
};
template <class First, class Entity, auto Member, class... More>
struct entity_of_changes_in<First, member_removal<Entity, Member>, More...> {
    using type = Entity;
};
template <class First, class... Given>
using entity_of_changes = typename entity_of_changes_in<First, Given...>::type;

/// The mutation of a `merge` of members.
struct partial_mutation {
    result<row> entity;
    etag_condition condition{any_etag};
};

/// Adds a new value of a member, whether it is stored as one property or as several.
template <class Entity, auto Member>
[[nodiscard]] result<void> add_change(row_builder& builder, member_change<Entity, Member> const& one) {
    if constexpr (is_in_parts<Member>) {
        nullable_view values[parts_of_member<Member>];
        result<void> put;
        if constexpr (is_chunked<Member>) {
            put = put_member_chunks(values, one.name, one.value);
        } else {
            put_reference(values, one.value);
        }
        std::size_t index = 0;
        auto const add = [&](std::string_view name, std::string_view suffix, described_property) {
            if (nullable_view const& part = values[index++]; part.present) {
                builder.add(std::string{name}.append(suffix), part.value);
            }
        };
        each_part_of<Member>(one.name, add);
        return put;
    } else {
        nullable_view const held = view_of(one.value);
        if (held.nameless) {
            return failure{error_code::out_of_range_input,
                std::string{"the property "}.append(one.name).append(" has a value without a name")};
        }
        builder.add(one.name, held.value);
        if constexpr (is_changed<Member>) {
            constexpr former_property const& former = former_of<Member>;
            if (!former.name.empty()) { builder.add(former.name, former.type, std::nullopt); }
        }
        return {};
    }
}

/// Adds the properties of a member to be removed, without a value.
/// Whether a merge of an entity must read the stored row.
template <class Entity>
inline constexpr bool replaced_by_merge = false;
template <mapped_entity Entity>
inline constexpr bool replaced_by_merge<Entity> = has_former_names<typename mapping<Entity>::properties>;

/// Makes the row of a `merge` that reads the stored row, as it must to remove former names: those properties have no value. Absent optionals
/// are left out, because they retain the stored value.
template <class Entity>
[[nodiscard]] result<row> row_without_former_names(Entity const& entity) {
    ENTITABLE_TRY(row const whole, to_row(entity));
    row_builder builder{whole.partition_key(), whole.row_key()};
    auto const add_former = [&]<auto Member>() {
        if constexpr (is_changed<Member>) {
            constexpr former_property const& former = former_of<Member>;
            bool const is_absent = held_value(read_member<Member>(entity)) == nullptr;
            if (!former.name.empty() && !is_absent) { builder.add(former.name, former.type, std::nullopt); }
        }
    };
    property_view each;
    for (property_cursor cursor{whole.payload()}; cursor.next(each);) {
        if (each.present) { builder.add(each.name, each.value); }
    }
    [&]<auto... Members>(members<0, Members...>) { (add_former.template operator()<Members>(), ...); }(
        typename mapping<Entity>::properties{});
    return builder.build();
}

template <class Entity, auto Member>
[[nodiscard]] result<void> add_change(row_builder& builder, member_removal<Entity, Member> const& one) {
    auto const add = [&](std::string_view name, std::string_view suffix, described_property property) {
        builder.add(std::string{name}.append(suffix), property.type, std::nullopt);
    };
    each_part_of<Member>(one.name, add);
    return {};
}

/// Used for a change whose error was reported.
[[nodiscard]] inline result<void> add_change(row_builder&, refused_predicate) { return {}; }

template <class T>
inline constexpr bool is_member_removal = false;
template <class Entity, auto Member>
inline constexpr bool is_member_removal<member_removal<Entity, Member>> = true;
template <class T>
inline constexpr bool is_member_change = is_member_removal<T>;
template <class Entity, auto Member>
inline constexpr bool is_member_change<member_change<Entity, Member>> = true;
template <>
inline constexpr bool is_member_change<refused_predicate> = true;
template <class Entity, class T>
inline constexpr bool changes_member_of = false;
template <class Entity, auto Member>
inline constexpr bool changes_member_of<Entity, member_change<Entity, Member>> = true;
template <class Entity, auto Member>
inline constexpr bool changes_member_of<Entity, member_removal<Entity, Member>> = true;
template <class Entity>
inline constexpr bool changes_member_of<Entity, refused_predicate> = true;
/// Whether an argument is a comparison: then an assignment was meant.
template <class T>
inline constexpr bool is_whole_condition = false;
template <class Entity, shape_set Shapes, shape_set Negated>
inline constexpr bool is_whole_condition<predicate<Entity, Shapes, Negated>> = true;

/// Whether an argument of a merge removes a property: then the entity must be read.
template <class T>
inline constexpr bool removes_property = is_member_removal<T>;
template <class Entity, auto Member>
    requires(parts_of_member<Member> == 2 && is_changed<Member>)
inline constexpr bool removes_property<member_change<Entity, Member>> = true;
template <class... Given>
inline constexpr bool removes_members = (removes_property<std::remove_cvref_t<Given>> || ...);

/// Makes the mutation: the last argument is the condition, the others are changes of members.
template <class Entity, class... Values, class... Given>
[[nodiscard]] partial_mutation partial_merge(keys_at<Values...> const& keys, Given const&... given) {
    constexpr std::size_t changes = (std::size_t{0} + ... + (is_member_change<Given> ? 1U : 0U));
    constexpr bool compares = (is_whole_condition<Given> || ...);
    static_assert(!compares, "a merge assigns members with =, as in o::status = \"paid\": == compares them");
    constexpr bool conditional = changes + 1 == sizeof...(Given);
    static_assert(conditional || compares,
        "an update needs an ETag: pass the ETag that was read, or any_etag, after the members");
    constexpr bool of_one_type = ((!is_member_change<Given> || changes_member_of<Entity, Given>) && ...);
    static_assert(of_one_type, "the members of a merge must belong to one entity type of the table");
    static_assert(
        changes > 0 || compares, "a merge needs members: merge(at(keys...), o::status = \"paid\", condition)");
    partial_mutation made{row_at<Entity>(keys)};
    if constexpr (conditional && of_one_type) {
        if (made.entity) {
            row_builder builder{made.entity->partition_key(), made.entity->row_key()};
            result<void> good;
            auto const take = [&]<class T>(T const& one) {
                if constexpr (is_member_change<T>) {
                    if (auto added = add_change(builder, one); !added) { good = std::move(added); }
                } else {
                    made.condition = one;
                }
            };
            (take(given), ...);
            made.entity = good ? result<row>{builder.build()} : std::move(good).as_failure();
        }
    }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
