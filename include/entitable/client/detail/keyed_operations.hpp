// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The operations of `table<E>` whose parameters are the components of its entity's keys.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/detail/change.hpp>
#include <entitable/client/detail/found_entity.hpp>
#include <entitable/client/detail/instantiated_table.hpp>
#include <entitable/client/detail/refused_calls.hpp>
#include <entitable/client/mapping/codec.hpp>
#include <entitable/client/query/access_path.hpp>
#include <entitable/client/stored.hpp>
#include <entitable/client/table_core.hpp>
#include <entitable/client/transaction.hpp>
#include <entitable/client/update.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE

template <class... Types>
class table;
template <class... Types>
class reader;

namespace detail {

/// Reports that a reader was passed to a function that writes.
template <class Reader>
consteval void refuse_reader() {
    static_assert(sizeof(Reader) == 0,
        "this is a reader: pass the table that maintains its indexes and sums, or its unmaintained() to bypass them");
}
template <class Type>
inline constexpr bool is_reader = false;
template <class... Types>
inline constexpr bool is_reader<reader<Types...>> = true;

/// Whether the arguments are neither values of the key components nor a reference to an entity. `Wanted`: see `values_wanted`.
template <class Entity, class Wanted, std::size_t Count, class... Given>
concept names_no_entity = (sizeof...(Given) != Count || !Wanted::template are_first_of<Given...>()) &&
    !(std::convertible_to<Given const&, reference<Entity> const&> || ...);

/// Whether the first argument is the entity itself.
template <class Entity, class... Given>
inline constexpr bool begins_with_entity = false;
template <class Entity, class First, class... More>
inline constexpr bool begins_with_entity<Entity, First, More...> =
    std::is_base_of_v<Entity, std::remove_cvref_t<First>>;

/// Reports the names of the entity's key components.
template <class Entity>
failure not_named() {
    static_assert(sizeof(typename mapping<Entity>::template keys_are_given < sizeof(Entity) == 0 >) != 0);
    return failure{error_code::invalid_input, {}};
}

/// Reports the names of the components of its partition key.
template <class Entity>
failure partition_not_named() {
    static_assert(sizeof(typename mapping<Entity>::template partition_is_named < sizeof(Entity) == 0 >) != 0);
    return failure{error_code::invalid_input, {}};
}
/// Reports that an update was given the entity itself.
template <class Entity>
failure updated_as_a_whole() {
    static_assert(sizeof(Entity) == 0,
        "update(keys..., change) reads the entity and changes it with a function: to write this entity call "
        "replace(entity, etag) or insert_or_replace(entity)");
    return failure{error_code::invalid_input, {}};
}

/// Calls a change on an entity, both behind void pointers.
template <class Change, class Entity>
[[nodiscard]] bool call_change(void* to, void* entity) {
    auto& change = **static_cast<Change**>(to);
    // As `apply_change`, without one more function for each change.
    if constexpr (!allow_change<Change, Entity>()) {
        return false; // the reason was reported
    } else if constexpr (std::is_void_v<decltype(change(*static_cast<Entity*>(entity)))>) {
        change(*static_cast<Entity*>(entity));
        return true;
    } else {
        return change(*static_cast<Entity*>(entity));
    }
}

template <class Entity, class... P, class... R>
instantiated_table<Entity, components<void, P...>, components<void, R...>>::instantiated_table(table_core core)
    : core_(std::move(core)) {}
template <class Entity, class... P, class... R>
instantiated_table<Entity, components<void, P...>, components<void, R...>>::instantiated_table(
    table_arguments const& from)
    : core_(from) {}
template <class Entity, class... P, class... R>
result<Entity> instantiated_table<Entity, components<void, P...>, components<void, R...>>::get(
    key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row) const {
    auto const keys = of_keys::sources_of(partition..., row...);
    result<Entity> found{std::in_place};
    found.fail_if(core_.read(kind_of_entity<Entity>, keys.partition, keys.row, &*found));
    return found;
}
template <class Entity, class... P, class... R>
result<std::optional<Entity>> instantiated_table<Entity, components<void, P...>, components<void, R...>>::find(
    key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row) const {
    auto const keys = of_keys::sources_of(partition..., row...);
    result<std::optional<Entity>> found{std::in_place};
    found_entity<Entity, std::optional<Entity>> const shown{&found, core_.options().reading};
    shown.conclude(core_.read(kind_of_entity<Entity>, keys.partition, keys.row, entity_visitor{shown}));
    return found;
}
template <class Entity, class... P, class... R>
result<stored<Entity>> instantiated_table<Entity, components<void, P...>, components<void, R...>>::get_stored(
    key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row) const {
    auto const keys = of_keys::sources_of(partition..., row...);
    result<stored<Entity>> found{std::in_place};
    found_entity<Entity, stored<Entity>> const shown{&found, core_.options().reading};
    shown.conclude(core_.read(kind_of_entity<Entity>, keys.partition, keys.row, entity_visitor{shown}));
    return found;
}
template <class Entity, class... P, class... R>
result<written> instantiated_table<Entity, components<void, P...>, components<void, R...>>::insert(
    Entity const& entity) const {
    return core_.write(mutation_kind::insert, &entity, kind_of_entity<Entity>);
}
template <class Entity, class... P, class... R>
result<written> instantiated_table<Entity, components<void, P...>, components<void, R...>>::replace(
    Entity const& entity, etag_condition condition) const {
    return core_.write(mutation_kind::replace, &entity, kind_of_entity<Entity>, condition);
}
template <class Entity, class... P, class... R>
result<written> instantiated_table<Entity, components<void, P...>, components<void, R...>>::insert_or_replace(
    Entity const& entity) const {
    return core_.write(mutation_kind::insert_or_replace, &entity, kind_of_entity<Entity>);
}
template <class Entity, class... P, class... R>
result<written> instantiated_table<Entity, components<void, P...>, components<void, R...>>::remove(
    key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row,
    etag_condition condition, entitable::removal sums) const {
    auto const keys = of_keys::sources_of(partition..., row...);
    return core_.remove(kind_of_entity<Entity>, keys.partition, keys.row, condition, sums);
}
template <class Entity, class... P, class... R>
result<std::optional<written>> instantiated_table<Entity, components<void, P...>,
    components<void, R...>>::remove_if_present(key_argument<typename P::value_type>... partition,
    key_argument<typename R::value_type>... row, etag_condition condition, entitable::removal sums) const {
    auto const keys = of_keys::sources_of(partition..., row...);
    return core_.write_if_present(
        removal(kind_of_entity<Entity>, keys.partition, keys.row, std::move(condition), sums));
}
template <class Entity, class... P, class... R>
result<updated<Entity>> instantiated_table<Entity, components<void, P...>, components<void, R...>>::change_entity(
    key_argument<typename P::value_type> const&... partition, key_argument<typename R::value_type> const&... row,
    bool forced, entity_change const& change, update_options const& options) const {
    auto const keys = of_keys::sources_of(partition..., row...);
    result<updated<Entity>> outcome{std::in_place};
    updated<Entity>& made = *outcome;
    outcome.fail_if(update_entity(core_, kind_of_entity<Entity>, keys.partition, keys.row,
        {&made.entity, made.etag, made.attempts, made.changed, made.after_retry, made.healed, made.unsettled}, change,
        forced, options));
    return outcome;
}

/// The operations whose parameters are the key components of the entity.
template <class Entity, class PartitionComponents, class RowComponents>
class keyed_operations;

template <class Entity, class... P, class... R>
class keyed_operations<Entity, components<void, P...>, components<void, R...>>
    : public instantiated_table<Entity, components<void, P...>, components<void, R...>> {
    using base = instantiated_table<Entity, components<void, P...>, components<void, R...>>;
    using wanted = values_wanted<typename P::value_type..., typename R::value_type...>;
    static constexpr std::size_t count_of_keys = sizeof...(P) + sizeof...(R);
    /// Whether the arguments are values of the keys, followed by other arguments.
    template <class... Given>
    static consteval bool names_and_more() {
        return sizeof...(Given) > count_of_keys && wanted::template are_first_of<Given...>();
    }

public:
    using base::find;
    using base::get;
    using base::get_stored;
    using base::remove;

    /// Reads the entity of a reference. Errors: ResourceNotFound if it does not exist. A point query.
    [[nodiscard]] result<Entity> get(reference<Entity> const& named) const { return read_named<Entity>(named); }
    /// Does the same; nullopt if it does not exist.
    [[nodiscard]] result<std::optional<Entity>> find(reference<Entity> const& named) const {
        return read_named<std::optional<Entity>>(named);
    }
    /// Makes a reference to the entity with these keys, which need not exist. Sends nothing. Errors: KeyNotSplittable, KeyReserved and
    /// OutOfRangeInput as for `to_row`.
    [[nodiscard]] static result<reference<Entity>> reference_to(
        key_argument<typename P::value_type> const&... partition, key_argument<typename R::value_type> const&... row) {
        ENTITABLE_TRY(auto first, base::partition_key(partition...));
        ENTITABLE_TRY(auto second, base::row_key(row...));
        return reference<Entity>{std::move(first), std::move(second)};
    }

    // Wrong keys give one message, with the names of the components.
    /// Does not compile: an entity needs all components of its keys.
    template <class... Given>
        requires names_no_entity<Entity, wanted, count_of_keys, Given...>
    result<Entity> get(Given const&...) const {
        return not_named<Entity>();
    }
    /// Does not compile: an entity needs all components of its keys.
    template <class... Given>
        requires names_no_entity<Entity, wanted, count_of_keys, Given...>
    result<std::optional<Entity>> find(Given const&...) const {
        return not_named<Entity>();
    }

    /// Does not compile: an entity needs all components of its keys.
    template <class... Given>
        requires names_no_entity<Entity, wanted, count_of_keys, Given...>
    result<stored<Entity>> get_stored(Given const&...) const {
        return not_named<Entity>();
    }
    /// Does not compile: a removal needs all components of the keys, and an ETag, or any_etag.
    template <class... Given>
        requires(!names_and_more<Given...>() && !begins_with_entity<Entity, Given...>)
    result<written> remove(Given const&...) const {
        if constexpr (wanted::template are_first_of<Given...>()) {
            refuse_blind_removal<Entity>();
            return failure{error_code::invalid_input, {}};
        } else {
            return not_named<Entity>();
        }
    }
    /// Does not compile: an update needs all components of the keys, and a change.
    template <class... Given>
        requires(!names_and_more<Given...>())
    result<updated<Entity>> update(Given const&...) const {
        if constexpr (begins_with_entity<Entity, Given...>) {
            return updated_as_a_whole<Entity>();
        } else {
            return not_named<Entity>();
        }
    }
    /// Does not compile: a transaction needs all components of the partition key, and a body.
    template <class... Given>
        requires(sizeof...(Given) <= sizeof...(P) ||
            !values_wanted<typename P::value_type...>::template are_first_of<Given...>())
    result<transacted> transact(Given const&...) const {
        return partition_not_named<Entity>();
    }

    /// Reads the entity, calls `change(entity)`, and replaces it under the ETag that was read; starts over if another
    /// writer changed the entity first, up to `update_options::max_attempts` times. `change` takes the entity by
    /// reference and returns nothing or exactly bool: false leaves the stored entity unchanged. It is called once for
    /// each attempt. Properties that the entity type does not declare are retained; an absent optional removes its
    /// property. Reads are from the primary location. With `any_etag` the replacement is unconditional: changes by
    /// other writers since the read are lost, and there is only one attempt.
    ///
    /// Errors: ResourceNotFound if the entity does not exist, UpdateConditionNotSatisfied if other writers changed the
    /// entity first in every attempt, InvalidInput if `change` changes the keys. A write of unknown effect ends the
    /// update with that error and is not repeated: the change may have been applied.
    template <class Change>
    [[nodiscard]] result<updated<Entity>> update(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, Change&& change,
        update_options const& options = usual_update_options()) const {
        auto* target = &change; // may point to a function, which is not an object
        return base::change_entity(
            partition..., row..., false, {&call_change<std::remove_reference_t<Change>, Entity>, &target}, options);
    }
    template <class Change>
    [[nodiscard]] result<updated<Entity>> update(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, any_etag_t, Change&& change,
        update_options const& options = usual_update_options()) const {
        auto* target = &change; // may point to a function, which is not an object
        return base::change_entity(
            partition..., row..., true, {&call_change<std::remove_reference_t<Change>, Entity>, &target}, options);
    }

    /// Does the same as `update`; nullopt, which is not an error, if the entity does not exist.
    template <class Change>
    [[nodiscard]] result<std::optional<updated<Entity>>> update_if_present(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row, Change&& change,
        update_options const& options = usual_update_options()) const {
        return if_present{}(update(partition..., row..., change, options));
    }
    template <class Change>
    [[nodiscard]] result<std::optional<updated<Entity>>> update_if_present(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row, any_etag_t,
        Change&& change, update_options const& options = usual_update_options()) const {
        return if_present{}(update(partition..., row..., any_etag, change, options));
    }

    /// Calls `body(transaction<Entity>&)`, which reads and changes entities of one partition, and writes either all of
    /// its changes or no change. Runs the body again from the start if a row that it has read has changed since, up to
    /// `transaction_options::max_attempts` times: the body must not have other lasting effects. It returns
    /// `result<void>`; with an error nothing is written.
    ///
    /// Bodies and all other writers are serializable with respect to rows that they find or insert. A body whose
    /// decisions depend on the absence of a row calls `transaction::exclusive` first. Before an error of the body is
    /// returned, or the result of a body without changes, the rows read in several requests are read once more: no
    /// error is based on a state that never existed.
    ///
    /// An unknown effect ends the transaction with that error. `retrying` with operation rows around the backend settles it; a transaction
    /// may then have one operation fewer. Under `call_options::operation_id` it is applied once, however often it is called: the body does
    /// not run if an earlier call was applied. If the transaction conflicts with a row that the body had not found, it
    /// is abandoned under its id: OperationVoid; call it again with a new id.
    template <class Body>
    [[nodiscard]] result<transacted> transact(
        key_argument<typename P::value_type>... partition, Body&& body, transaction_options const& options = {}) const {
        return transact_entities<Entity>(core_, base::partition_key(partition...), body, options);
    }

protected:
    explicit keyed_operations(table_core core) : base(std::move(core)) {}
    explicit keyed_operations(table_arguments const& from) : base(from) {}

    using base::core_;

    template <class Found>
    [[nodiscard]] result<Found> read_named(reference<Entity> const& named) const {
        result<Found> found{std::in_place};
        found_entity<Entity, Found> const shown{&found, core_.options().reading};
        shown.conclude(core_.read(borrowed_key(key_part::partition, std::string_view{named.partition_key}),
            borrowed_key(key_part::row, std::string_view{named.row_key}), entity_visitor{shown}));
        return found;
    }
};

/// Instantiated when its size is used; reports the entity's own message if a query would scan the table.
template <class Entity, access_path Path>
using allowed_path = typename mapping<Entity>::template partition_key_is_fixed<Path != access_path::table>;

template <class T>
inline constexpr bool never = false;

} // namespace detail

ENTITABLE_END_NAMESPACE

#endif
