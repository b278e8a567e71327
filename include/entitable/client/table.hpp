// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `table<E>`: a typed table.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/batch.hpp>
#include <entitable/client/detail/keyed_operations.hpp>
#include <entitable/client/query.hpp>
#include <entitable/client/query/comparison.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reports in one line why a table of these types is not available.
template <class... Types>
consteval bool refuse_table() {
    constexpr bool known = sizeof...(Types) != 1 || !(is_wide<Types> || ...);
    static_assert(known, "a table of a wide entity requires #include <entitable/wide.hpp>");
    if constexpr (sizeof...(Types) == 1 && known) {
        (static_cast<void>(sizeof(mapping_of<Types>)), ...);
    } else if constexpr (known) {
        static_assert(sizeof...(Types) == 0, "a table with several entity types needs #include <entitable/tables.hpp>");
        static_assert(sizeof...(Types) != 0, "a table needs its entity type: table<order>");
    }
    return true;
}

/// Reports in one line that an entity must not be written through a table of its type alone.
template <class Entity>
consteval void allow_alone() {
    constexpr bool alone = !requires { typename Entity::lives_with; };
    static_assert(alone,
        "the lives_with of this entity requires other types: use table<runner, by_age, daily_sales> with all of them, "
        "or "
        "reader<runner> to read");
}

} // namespace detail

/// A table of entities: `table<E>` of one type; `table<A, B, ...>` of several types, in `<entitable/tables.hpp>`.
template <class... Types>
class table {
    static_assert(detail::refuse_table<Types...>());

public:
    template <class... Given>
    explicit table(Given const&...) {} ///< does not compile
};

/// A table of entities of one type, on any transport. Copies are cheap and own the backend jointly. Every operation returns a result and
/// does not itself throw exceptions. Thread safety: safe to use from several threads.
///
/// Errors, in addition to those of each function: TableNotFound; OutOfRangeInput, KeyValueTooLarge, KeyNotSplittable and KeyReserved for
/// keys that cannot be stored; PropertyValueTooLarge, EntityTooLarge, TooManyProperties for entities that cannot be stored; RowMismatch for
/// a row that does not fit the entity type; Cancelled and DeadlineExceeded; those of the backend.
template <mapped_entity Entity>
class table<Entity> : public detail::keyed_operations<Entity, typename mapping<Entity>::partition_components,
                          typename mapping<Entity>::row_components>,
                      public detail::refused_table_names {
    using base = detail::keyed_operations<Entity, typename mapping<Entity>::partition_components,
        typename mapping<Entity>::row_components>;
    using base::core_;

public:
    using value_type = Entity; ///< entity type

    /// `name`: 3 to 63 letters and digits, starting with a letter; case-insensitive, except in Cosmos DB. Each request checks it
    /// (InvalidResourceName, OutOfRangeInput).
    table(any_store through, std::string name) : base(detail::table_arguments{through, name, nullptr}) {
        detail::allow_alone<Entity>();
        if constexpr (detail::has_changed_members<typename mapping<Entity>::properties>) { core_.keep_marks(); }
    }
    // Not a default argument, which each call would construct and destroy.
    table(any_store through, std::string name, call_options options)
        : base(detail::table_arguments{through, name, &options}) {
        detail::allow_alone<Entity>();
        if constexpr (detail::has_changed_members<typename mapping<Entity>::properties>) { core_.keep_marks(); }
    }
    explicit table(detail::table_core core) : base(std::move(core)) {} ///< made by a table of several types
    /// Does not compile: the first argument is a store.
    template <class Text, class... More>
        requires std::convertible_to<Text const&, std::string_view>
    explicit table(Text const&, More const&...)
        : base(detail::table_core{detail::moved_from_transport("table"), {}, {}}) {
        detail::refuse_text_as_store<Text>();
    }
    /// Does not compile: a table needs a name.
    template <class Store>
        requires std::convertible_to<Store const&, any_store>
    explicit table(Store const& through) : base(detail::table_core{through, {}, {}}) {
        static_assert(sizeof(Store) == 0, "a table needs its name after the store: table<order>{store, \"orders\"}");
    }

    [[nodiscard]] std::string const& name() const noexcept { return core_.name(); } ///< the table's name
    /// The transport.
    [[nodiscard]] any_store const& store() const noexcept { return core_.store(); }
    /// The options of its calls.
    [[nodiscard]] call_options const& options() const noexcept { return core_.options(); }
    /// Returns the same table with other options for its calls.
    [[nodiscard]] table with(call_options options) const {
        table changed{*this};
        changed.core_.set_options(std::move(options));
        return changed;
    }

    // ---- the table itself ----

    /// Creates the table; TableAlreadyExists if it exists, TableBeingDeleted while the name of a deleted table is not free.
    [[nodiscard]] result<void> create() const { return core_.create(); }
    /// Creates the table unless it exists; true if this call created it.
    [[nodiscard]] result<bool> create_if_absent() const { return core_.create_if_absent(); }
    /// Deletes the table with all its entities, including those of other types; ResourceNotFound if it does not exist.
    [[nodiscard]] result<void> drop() const { return core_.drop(); }
    /// Deletes the table if it exists; true if this call deleted it.
    [[nodiscard]] result<bool> drop_if_present() const { return core_.drop_if_present(); }

    /// Returns the partition keys, in order. Skips partitions with only system rows. Cost: one request for each partition, which reads one
    /// row, one more for each partition that begins with a system row, and one at the end. Errors: NotSupported if the service does not
    /// return rows in key order (`profile::ordered`).
    [[nodiscard]] result<std::vector<std::string>> partitions() const { return core_.partitions(); }

    // ---- writes of one entity ----

    using base::insert;
    using base::insert_or_replace;
    using base::replace;
    /// Replaces the properties that are present and retains the others; otherwise like `replace`. An absent optional retains the stored
    /// value: to remove a property, replace the entity. An entity with `formerly(...)` is read and replaced under its ETag, because a merge of
    /// the service cannot remove the former name.
    [[nodiscard]] result<written> merge(Entity const& entity, etag_condition condition) const {
        if constexpr (detail::replaced_by_merge<Entity>) {
            detail::change_list alone;
            alone.add_removing(detail::row_without_former_names(entity), std::move(condition));
            return alone.submit_one(core_);
        } else {
            return core_.write(mutation_kind::merge, &entity, detail::kind_of_entity<Entity>, condition);
        }
    }
    /// Replaces only the given members of the entity with these keys: `merge(at("ann", 7), o::status = "paid", any_etag)`. Nothing is read.
    /// The last argument is the condition, as in `replace`. `o::note = absent` removes an optional member. Cost: a merge of the service
    /// cannot remove a property, so in this case the entity is read and replaced under its ETag; it starts over if
    /// another writer changed the entity first, up to 50 times.
    template <class... Values, class... ChangesAndCondition>
    [[nodiscard]] result<written> merge(
        keys_at<Values...> const& keys, ChangesAndCondition const&... changes_and_condition) const {
        auto made = detail::partial_merge<Entity>(keys, changes_and_condition...);
        if (!made.entity) { return std::move(made.entity).as_failure(); }
        if constexpr (detail::removes_members<ChangesAndCondition...>) {
            detail::change_list alone;
            alone.add_removing(std::move(made.entity), std::move(made.condition));
            return alone.submit_one(core_);
        } else {
            return core_.write(mutation::merge(*std::move(made.entity), std::move(made.condition)));
        }
    }
    /// The same as `insert_or_replace`, by the name that other libraries have for it.
    [[nodiscard]] result<written> upsert(Entity const& entity) const { return insert_or_replace(entity); }
    /// Inserts the entity, or merges with the stored one: the last writer wins. Does not compile for an entity with `formerly(...)`.
    [[nodiscard]] result<written> insert_or_merge(Entity const& entity) const {
        detail::refuse_merge_beside_former_names<typename mapping<Entity>::properties>();
        return core_.write(mutation_kind::insert_or_merge, &entity, detail::kind_of_entity<Entity>);
    }

    using base::remove;
    /// Removes this entity, if the stored version is the given version: ResourceNotFound if it does not exist,
    /// UpdateConditionNotSatisfied if it was changed since.
    [[nodiscard]] result<written> remove(Entity const& entity, etag_condition condition, removal sums = {}) const {
        return core_.write(detail::removal(partition_key_of(entity), row_key_of(entity), std::move(condition), sums));
    }

    // The service treats an update without an ETag as an insert, so it is refused here, with one message.
    /// Does not compile: an update needs an ETag, or any_etag.
    template <class E = Entity>
    result<written> replace(E const&) const {
        static_assert(detail::never<E>, "an update needs an ETag: pass the ETag that was read, or any_etag");
        return failure{error_code::invalid_input, {}};
    }
    /// Does not compile: an update needs an ETag, or any_etag.
    template <class E = Entity>
    result<written> merge(E const&) const {
        static_assert(detail::never<E>, "an update needs an ETag: pass the ETag that was read, or any_etag");
        return failure{error_code::invalid_input, {}};
    }

    /// Does not compile: a removal needs an ETag, or any_etag.
    template <class E = Entity>
    result<written> remove(E const&) const
        requires std::is_base_of_v<Entity, E>
    {
        detail::refuse_blind_removal<E>();
        return failure{error_code::invalid_input, {}};
    }

    /// Starts a batch: several changes of one partition, all or nothing.
    [[nodiscard]] entitable::batch<Entity> batch() const { return entitable::batch<Entity>{core_}; }

    // ---- queries ----

    /// Queries the entities that satisfy the predicate. Does not compile if it would scan the whole table.
    template <shape_set Shapes, shape_set Negated>
    [[nodiscard]] auto where(predicate<Entity, Shapes, Negated> const& condition) const {
        constexpr access_path path = path_of(Shapes, mapping<Entity>::partition_layout, mapping<Entity>::row_layout);
        static_cast<void>(sizeof(detail::allowed_path<Entity, path>));
        return entitable::query<Entity, path>{core_, condition.nodes()};
    }
    /// Used for a predicate that was already diagnosed.
    [[nodiscard]] entitable::query<Entity, access_path::point> where(detail::refused_predicate) const {
        return entitable::query<Entity, access_path::point>{core_, predicate_nodes{}};
    }

    /// Does not compile: `where` needs one condition on members of the entity.
    template <class... Given>
        requires detail::no_condition<Entity, Given...>
    [[nodiscard]] auto where(Given const&...) const {
        return where(detail::refuse_condition<Given...>());
    }

    /// Queries all entities; reads the whole table.
    [[nodiscard]] auto scan_table() const {
        return entitable::query<Entity, access_path::table>{core_, predicate_nodes{}};
    }
    /// Queries the entities that satisfy the predicate; may read the whole table.
    template <shape_set Shapes, shape_set Negated>
    [[nodiscard]] auto scan_table(predicate<Entity, Shapes, Negated> const& condition) const {
        constexpr access_path path = path_of(Shapes, mapping<Entity>::partition_layout, mapping<Entity>::row_layout);
        return entitable::query<Entity, path>{core_, condition.nodes()};
    }
};

ENTITABLE_END_NAMESPACE

#endif
