// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `table<wide<E>>`: entities of more than 252 properties, or more than 1 MiB, each in several rows of one partition.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/detail/update_operation.hpp>
#include <entitable/client/table.hpp>
#include <entitable/client/wide/detail/wide_rows.hpp>
#include <entitable/client/wide/wide_options.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The operations of a wide table whose parameters are the key components of the entity.
template <class Entity, class PartitionComponents, class RowComponents>
class wide_operations;

template <class Entity, class... P, class... R>
class wide_operations<Entity, components<void, P...>, components<void, R...>>
    : protected keyed_operations<Entity, components<void, P...>, components<void, R...>> {
    using base = keyed_operations<Entity, components<void, P...>, components<void, R...>>;
    static constexpr std::string_view entity_name = mapping<Entity>::entity_name;

public:
    /// Reads the entity with these keys, with all parts from one write; starts over if a writer has changed it in
    /// between.
    ///
    /// Errors: ResourceNotFound if it does not exist; RowMismatch if it was not written as a wide entity; RowMalformed if parts are missing;
    /// UpdateConditionNotSatisfied if writers changed it during every attempt. Cost: two requests, if the parts fit on one page.
    [[nodiscard]] result<Entity> get(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row) const {
        ENTITABLE_TRY(auto found, get_stored(partition..., row...));
        return std::move(found.entity);
    }
    [[nodiscard]] result<Entity> get(reference<Entity> const& named) const {
        ENTITABLE_TRY(auto found, read(named.partition_key, named.row_key));
        return std::move(found.entity);
    }
    /// Does the same; nullopt if the entity does not exist.
    [[nodiscard]] result<std::optional<Entity>> find(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row) const {
        return if_present{}(get(partition..., row...));
    }
    [[nodiscard]] result<std::optional<Entity>> find(reference<Entity> const& named) const {
        return if_present{}(get(named));
    }
    /// Does the same, with the ETag and Timestamp of its main row; ResourceNotFound if it does not exist.
    [[nodiscard]] result<stored<Entity>> get_stored(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row) const {
        return read(base::partition_key(partition...), base::row_key(row...));
    }
    /// Removes the entity with these keys and all its parts, if it has the given version: ResourceNotFound if it does not exist,
    /// UpdateConditionNotSatisfied if it was changed since.
    [[nodiscard]] result<wide_written> remove(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, etag_condition condition) const {
        ENTITABLE_TRY(auto made, removal(base::partition_key(partition...), base::row_key(row...), condition));
        return write_row(mutation_kind::remove, std::move(made.entity), condition);
    }
    /// Does the same; nullopt, which is not an error, if it does not exist.
    [[nodiscard]] result<std::optional<wide_written>> remove_if_present(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row,
        etag_condition condition) const {
        return if_present{}(remove(partition..., row..., std::move(condition)));
    }
    /// Reads the entity, calls `change(entity)`, and writes it back; starts over if another writer changed the entity
    /// first, like `table::update`.
    template <class Change>
    [[nodiscard]] result<wide_written> update(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, Change&& change) const {
        auto const change_row = [&](row_view stored) -> result<std::optional<row_of_wide>> {
            Entity entity{};
            ENTITABLE_CHECK(from_row(stored, entity, base::core_.options().reading));
            if (!apply_change(change, entity)) { return std::optional<row_of_wide>{}; }
            return changed_entity(stored, whole_row(entity));
        };
        return update_wide(
            base::core_, base::partition_key(partition...), base::row_key(row...), change_row, entity_name, options_);
    }

    /// Does the same; nullopt, which is not an error, if it does not exist.
    template <class Change>
    [[nodiscard]] result<std::optional<wide_written>> update_if_present(
        key_argument<typename P::value_type>... partition, key_argument<typename R::value_type>... row,
        Change&& change) const {
        return if_present{}(update(partition..., row..., std::forward<Change>(change)));
    }

protected:
    using row_of_wide = entitable::row; // `row` is a parameter above

    wide_operations(table_core core, wide_options const& options) : base(std::move(core)), options_(options) {}

    /// Returns the row of the entity as if there were no limits.
    [[nodiscard]] static result<row_of_wide> whole_row(Entity const& entity) {
        result<row_of_wide> made{std::in_place};
        if (auto encoded = encode_entity(*made, entity, components<void, P...>{}, components<void, R...>{},
                typename mapping<Entity>::properties{}, false);
            !encoded) {
            made = std::move(encoded).as_failure();
        }
        return made;
    }
    [[nodiscard]] result<wide_written> write_row(
        mutation_kind kind, result<row_of_wide> const& whole, etag_condition const& condition) const {
        return write_wide(base::core_, kind, whole, condition, entity_name, options_);
    }
    [[nodiscard]] result<stored<Entity>> read(
        result<std::string> const& partition_key, result<std::string> const& row_key) const {
        ENTITABLE_TRY(auto found, read_wide(base::core_, partition_key, row_key, entity_name, options_));
        result<stored<Entity>> made{std::in_place};
        made->etag = std::move(found.version);
        made->timestamp = found.timestamp;
        if (auto decoded = from_row(found.whole.view(), made->entity, base::core_.options().reading); !decoded) {
            made = std::move(decoded).as_failure();
        }
        return made;
    }

    wide_options options_;
};

/// Whether the entity avoids the property names that the rows of wide entities need.
template <class Entity>
[[nodiscard]] consteval bool leaves_names_to_wide_rows() {
    for (std::string_view const name : mapping<Entity>::property_names) {
        if (name == "WideGeneration" || name == "WideParts") { return false; }
    }
    return true;
}

} // namespace detail

/// A table of entities that do not fit into one row: of more than 252 properties, or more than 1 MiB. Such a type can
/// be one of several types in a table: `table<counter, wide<survey>>`. The row with an entity's keys, the main row,
/// contains the number of parts and their generation; the parts are system rows `~!w!<RowKey>!<nn>` of the same
/// partition, of up to 251 properties and 1 MiB each.
///
/// - Every write replaces all rows in one transaction: a read and a transaction. A smaller entity removes the parts that it no longer
///   needs. A reader never returns parts of two writes: it starts over.
/// - The limits of 99 rows in addition to the main row and 4 MiB in total, or fewer by the profile, are checked before anything is sent:
///   EntityTooLarge, RequestBodyTooLarge. A row key must have at most 505 UTF-16 code units.
/// - Entities are read by their keys. A `table<E>` of the same name reads main rows, which lack the entity's properties: RowMismatch, if
///   one of these is not optional.
///
/// Thread safety: safe to use from several threads; copies are cheap. A write of unknown effect ends with that error,
/// as in `table::update`.
template <mapped_entity Entity>
class table<wide<Entity>> : public detail::wide_operations<Entity, typename mapping<Entity>::partition_components,
                                typename mapping<Entity>::row_components> {
    using base = detail::wide_operations<Entity, typename mapping<Entity>::partition_components,
        typename mapping<Entity>::row_components>;
    using base::core_;
    static_assert(detail::leaves_names_to_wide_rows<Entity>(),
        "a wide entity must not have a property called WideGeneration or WideParts: its rows use these names");

public:
    using value_type = Entity; ///< entity type

    /// `name`: as for `table<E>`.
    table(any_store through, std::string name, wide_options const& how = {}, call_options options = {})
        : base(detail::table_core{std::move(through), std::move(name), std::move(options)}, how) {}
    /// Made by a table of several types.
    table(detail::table_core core, auto const& how)
        : base(std::move(core), {how.max_attempts, how.delays, how.time, how.seed}) {}

    [[nodiscard]] std::string const& name() const noexcept { return core_.name(); } ///< name of the table

    /// Creates the table; TableAlreadyExists if it exists.
    [[nodiscard]] result<void> create() const { return core_.create(); }
    /// Creates the table unless it exists; returns whether this call created it.
    [[nodiscard]] result<bool> create_if_absent() const { return core_.create_if_absent(); }
    /// Removes the table with all its entities; ResourceNotFound if it does not exist.
    [[nodiscard]] result<void> drop() const { return core_.drop(); }

    /// Inserts an entity; EntityAlreadyExists if an entity with its keys exists.
    [[nodiscard]] result<wide_written> insert(Entity const& entity) const {
        return write(mutation_kind::insert, entity, any_etag);
    }
    /// Replaces the entity, if it has the given version, or with `any_etag`: ResourceNotFound if it does not exist,
    /// UpdateConditionNotSatisfied if it was changed since.
    [[nodiscard]] result<wide_written> replace(Entity const& entity, etag_condition condition) const {
        return write(mutation_kind::replace, entity, condition);
    }
    /// Inserts an entity, or replaces the stored entity.
    [[nodiscard]] result<wide_written> insert_or_replace(Entity const& entity) const {
        return write(mutation_kind::insert_or_replace, entity, any_etag);
    }
    /// The same as `insert_or_replace`.
    [[nodiscard]] result<wide_written> upsert(Entity const& entity) const { return insert_or_replace(entity); }
    using base::remove;
    /// Removes this entity: see the other `remove`. Only the keys are used.
    [[nodiscard]] result<wide_written> remove(Entity const& entity, etag_condition condition) const {
        return write(mutation_kind::remove, entity, condition);
    }
    /// Makes one of these writes; a merge is NotSupported.
    [[nodiscard]] result<wide_written> write(
        mutation_kind kind, Entity const& entity, etag_condition const& condition) const {
        return base::write_row(kind, base::whole_row(entity), condition);
    }

    /// Does not compile: it needs entities that are stored in one row.
    template <class... Given>
    void where(Given const&...) const {
        detail::refuse_wide<Entity>();
    }
    /// Does not compile, like `where`.
    template <class... Given>
    void scan_table(Given const&...) const {
        detail::refuse_wide<Entity>();
    }
    /// Does not compile, like `where`.
    template <class... Given>
    void transact(Given const&...) const {
        detail::refuse_wide<Entity>();
    }
    /// Does not compile, like `where`.
    template <class E = Entity>
    void batch() const {
        detail::refuse_wide<E>();
    }
};

/// The name of a table of wide entities before 0.1.0.
template <class Entity>
class wide_table {
    static_assert(sizeof(Entity) == 0, "wide_table<survey> is now table<wide<survey>>");

public:
    template <class... Given>
    explicit wide_table(Given&&...) {} ///< does not compile
};

ENTITABLE_END_NAMESPACE

#endif
