// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `table<E>`: what a program calls.

#include <entitable/client/batch.hpp>
#include <entitable/client/detail/keyed_operations.hpp>
#include <entitable/client/query.hpp>
#include <entitable/query/comparison.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A table of entities of one type, on any transport. Safe to use from several threads; copies are cheap and keep the
/// backend alive. Every operation returns a result and throws nothing of its own.
template <mapped_entity Entity>
class table : public detail::keyed_operations<Entity, typename mapping<Entity>::partition_components,
                  typename mapping<Entity>::row_components> {
    using base = detail::keyed_operations<Entity, typename mapping<Entity>::partition_components,
        typename mapping<Entity>::row_components>;
    using base::core_;

public:
    using value_type = Entity; ///< what it holds

    /// `name`: 3 to 63 letters and digits, a letter first; compared without case. It is checked with the first request.
    table(any_transport through, std::string name, call_options options = {})
        : base(detail::table_core{std::move(through), std::move(name), std::move(options)}) {}

    [[nodiscard]] std::string const& name() const noexcept { return core_.name(); } ///< its name
    /// What it runs on.
    [[nodiscard]] any_transport const& transport() const noexcept { return core_.transport(); }
    /// The wishes for its calls.
    [[nodiscard]] call_options const& options() const noexcept { return core_.options(); }
    /// The same table with other options for its calls.
    [[nodiscard]] table with(call_options options) const {
        return table{core_.transport(), core_.name(), std::move(options)};
    }

    // ---- the table itself ----

    /// TableAlreadyExists when it is there.
    [[nodiscard]] result<void> create() const { return core_.create(); }
    /// Whether it was made now.
    [[nodiscard]] result<bool> create_if_absent() const { return core_.create_if_absent(); }
    /// Removes the table with all its entities, of other types too; ResourceNotFound when there is none.
    [[nodiscard]] result<void> drop() const { return core_.drop(); }
    /// Whether it was there.
    [[nodiscard]] result<bool> drop_if_present() const { return core_.drop_if_present(); }

    /// The partition keys, in order: one request a partition, which reads one row, and one more for one that begins with a system row. Those
    /// that hold nothing but system rows are left out. NotSupported where the service gives rows in no order (`profile::ordered`).
    [[nodiscard]] result<std::vector<std::string>> partitions() const { return core_.partitions(); }

    // ---- writes of one entity ----

    /// EntityAlreadyExists when the key is taken.
    [[nodiscard]] result<written> insert(Entity const& entity) const {
        return core_.write(mutation_kind::insert, &entity, detail::kind_of_entity<Entity>);
    }
    /// Replaces all properties of the stored entity, if its version is the one given, or `any_etag`: ResourceNotFound when there
    /// is none, UpdateConditionNotSatisfied when it was changed since.
    [[nodiscard]] result<written> replace(Entity const& entity, etag_condition condition) const {
        return core_.write(mutation_kind::replace, &entity, detail::kind_of_entity<Entity>, condition);
    }
    /// Lays the properties that are present over the stored ones; otherwise as `replace`. An absent optional leaves
    /// what is stored: to remove a property, replace.
    [[nodiscard]] result<written> merge(Entity const& entity, etag_condition condition) const {
        return core_.write(mutation_kind::merge, &entity, detail::kind_of_entity<Entity>, condition);
    }
    /// Lays only the members that are named over those of the entity with these keys: `merge(at("ann", 7), o::status = "paid", any_etag)`.
    /// Nothing is read, and no other member touched. The last argument is the condition, as in `replace`. An optional member is removed by
    /// `o::note = absent`. Cost: since a merge of the service removes nothing, the entity is then read and replaced under its ETag, from
    /// the start when another writer was faster, 50 times in all.
    template <class... Values, class... ChangesAndCondition>
    [[nodiscard]] result<written> merge(
        keys_at<Values...> const& keys, ChangesAndCondition const&... changes_and_condition) const {
        auto made = detail::partial_merge<Entity>(keys, changes_and_condition...);
        if (!made.entity) {
            return std::move(made.entity).as_failure();
        }
        if constexpr (detail::removes_members<ChangesAndCondition...>) {
            detail::change_list alone;
            alone.add_removing(std::move(made.entity), std::move(made.condition));
            return alone.submit_one(core_);
        } else {
            return core_.write(mutation::merge(*std::move(made.entity), std::move(made.condition)));
        }
    }
    /// Inserts, or replaces whatever is stored: the last writer wins. The service knows no conditional form of it.
    [[nodiscard]] result<written> insert_or_replace(Entity const& entity) const {
        return core_.write(mutation_kind::insert_or_replace, &entity, detail::kind_of_entity<Entity>);
    }
    /// Inserts, or merges into whatever is stored: the last writer wins.
    [[nodiscard]] result<written> insert_or_merge(Entity const& entity) const {
        return core_.write(mutation_kind::insert_or_merge, &entity, detail::kind_of_entity<Entity>);
    }

    using base::remove;
    /// Removes this entity, if the stored version is the one given: ResourceNotFound when there is none, UpdateConditionNotSatisfied when it
    /// was changed since.
    [[nodiscard]] result<written> remove(Entity const& entity, etag_condition condition) const {
        return core_.write(detail::removal(partition_key_of(entity), row_key_of(entity), std::move(condition)));
    }

    // An update without an ETag would be an insert to the service: refused here, with one message.
    /// Does not compile: an update needs an ETag, or any_etag.
    template <class E = Entity>
    result<written> replace(E const&) const {
        static_assert(detail::never<E>, "an update needs an ETag: pass the one that was read, or any_etag");
        return failure{error_code::invalid_input, {}};
    }
    /// Does not compile: an update needs an ETag, or any_etag.
    template <class E = Entity>
    result<written> merge(E const&) const {
        static_assert(detail::never<E>, "an update needs an ETag: pass the one that was read, or any_etag");
        return failure{error_code::invalid_input, {}};
    }

    /// Several changes of one partition, all or nothing.
    [[nodiscard]] entitable::batch<Entity> batch() const { return entitable::batch<Entity>{core_}; }

    // ---- queries ----

    /// The entities that satisfy the predicate. Does not compile when it would scan the whole table.
    template <shape_set Shapes, shape_set Negated>
    [[nodiscard]] auto where(predicate<Entity, Shapes, Negated> const& condition) const {
        constexpr access_path path = path_of(Shapes, mapping<Entity>::partition_layout, mapping<Entity>::row_layout);
        static_assert(detail::allow_path<Entity, path>());
        return entitable::query<Entity, path>{asking(condition.nodes(), path)};
    }
    /// A predicate that was refused has said why.
    [[nodiscard]] entitable::query<Entity, access_path::point> where(detail::refused_predicate) const {
        return entitable::query<Entity, access_path::point>{asking({}, access_path::point)};
    }

    /// All entities; reads the whole table.
    [[nodiscard]] auto scan_table() const {
        return entitable::query<Entity, access_path::table>{asking({}, access_path::table)};
    }
    /// The entities that satisfy the predicate; may read the whole table.
    template <shape_set Shapes, shape_set Negated>
    [[nodiscard]] auto scan_table(predicate<Entity, Shapes, Negated> const& condition) const {
        constexpr access_path path = path_of(Shapes, mapping<Entity>::partition_layout, mapping<Entity>::row_layout);
        return entitable::query<Entity, path>{asking(condition.nodes(), path)};
    }

private:
    [[nodiscard]] shared<detail::query_source> asking(predicate_nodes const& condition, access_path path) const {
        return detail::ask(core_, condition, path, mapping<Entity>::partition_layout, mapping<Entity>::row_layout);
    }
};

ENTITABLE_END_NAMESPACE
