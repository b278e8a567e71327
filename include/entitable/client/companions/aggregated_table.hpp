// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `aggregated_table<E, Aggregate>`: a table whose sums are stored in rows of the same partition, changed in the same transaction.

#include <entitable/client/companions/aggregate/aggregate_options.hpp>
#include <entitable/client/companions/index/detail/index_writer.hpp>
#include <entitable/client/companions/listed_family.hpp>
#include <entitable/client/reader.hpp>
#include <entitable/core/random_seed.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The operations whose parameters are the key components of the entity.
template <class Entity, class Declared, class PartitionComponents, class RowComponents>
class aggregated_operations;

template <class Entity, class Declared, class... P, class... R>
class aggregated_operations<Entity, Declared, components<void, P...>, components<void, R...>>
    : protected keyed_operations<Entity, components<void, P...>, components<void, R...>> {
    using base = keyed_operations<Entity, components<void, P...>, components<void, R...>>;

public:
    using base::find;
    using base::get;
    using base::get_stored;

    /// Removes the entity with these keys from the table and from its sums, if it has the given version: ResourceNotFound if it does not
    /// exist, UpdateConditionNotSatisfied if it was changed since.
    [[nodiscard]] result<transacted> remove(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, etag_condition condition) const {
        ENTITABLE_TRY(auto made, removal(base::partition_key(partition...), base::row_key(row...), condition));
        return write(mutation_kind::remove, std::move(made.entity), condition);
    }
    /// Like `table::update`, with its sums.
    template <class Change>
    [[nodiscard]] result<transacted> update(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, Change&& change) const {
        auto const body = [&](transaction_scope& all) -> result<void> {
            ENTITABLE_CHECK(scoped_rows<Entity, components<void, R...>>{all}.update(row..., change));
            return {};
        };
        return send(base::partition_key(partition...), body);
    }
    /// Like `table::transact`; changes the sums of the entities that the body changes.
    template <class Body>
    [[nodiscard]] result<transacted> transact(key_argument<typename P::value_type>... partition, Body&& body) const {
        auto const typed = [&](transaction_scope& scope) -> result<void> {
            transaction<Entity> all{scope};
            return body(all);
        };
        constexpr bool takes_it = std::is_invocable_r_v<result<void>, Body&, transaction<Entity>&>;
        static_assert(takes_it,
            "the body of a transaction must take an entitable::transaction of the table's entity by reference, and "
            "return entitable::result<void>");
        return send(base::partition_key(partition...), typed);
    }
    /// Recomputes the sums of a partition and compares them. Writers may be active: if a sum changes meanwhile, it starts over.
    ///
    /// Errors: UpdateConditionNotSatisfied if a sum changed in every attempt. Cost: reads all sums and entities of the partition; memory
    /// for its sums.
    [[nodiscard]] result<aggregate_audit>(verify)(key_argument<typename P::value_type>... partition) const {
        return audit(base::partition_key(partition...), false);
    }
    /// Does the same, and rewrites wrong sums: after writers that bypassed the sums, or for a table without sums. Writers may be active.
    /// May be called again after an interruption. Cost: one more request for each wrong sum.
    [[nodiscard]] result<aggregate_audit> rebuild(key_argument<typename P::value_type>... partition) const {
        return audit(base::partition_key(partition...), true);
    }

protected:
    aggregated_operations(table_core core, aggregate_options const& options)
        : base(core), family_(rows_of_sums::make(core, engine_options(options))), options_(options) {}

    template <class Body>
    [[nodiscard]] result<transacted> send(result<std::string> partition_key, Body const& body) const {
        transaction_options const how{options_.max_attempts, options_.delays, options_.time, options_.seed};
        // These sums are not declared in the table: each program maintains them, whatever the time.
        index_states const always{{index_state::absent}, {}, true, (steady_time::max)()};
        call const context{base::core_.options(), *options_.time};
        index_writer writer{*family_or_absent<1>(family_), always, context, options_.seed};
        auto const sender = [&](transaction_scope& all, bool announces) { return writer.send(all, announces); };
        return run_transaction(base::core_, std::move(partition_key), how, body, sender);
    }
    /// Makes one change of one entity, under its version if the condition has one.
    [[nodiscard]] result<transacted> write(
        mutation_kind kind, result<row> entity, etag_condition const& condition) const {
        if (!entity) { return std::move(entity).as_failure(); }
        auto const body = [&](transaction_scope& all) -> result<void> {
            ENTITABLE_CHECK(check_entity_version(all, entity->row_key(), condition));
            all.change(kind, *entity, true);
            return {};
        };
        return send(std::string{entity->partition_key()}, body);
    }
    [[nodiscard]] result<aggregate_audit> audit(result<std::string> partition_key, bool mend) const {
        if (!partition_key) { return std::move(partition_key).as_failure(); }
        random_source random{options_.seed != 0 ? options_.seed : random_seed()};
        sum_audit found;
        ENTITABLE_CHECK(audit_partition(*family_or_absent<1>(family_), 0, *partition_key, mend, 10, random, found));
        aggregate_audit told{found.entities, found.rows, found.different, {}};
        for (row_keys& each : found.samples) { told.samples.push_back(std::move(each.row_key)); }
        return told;
    }

    using rows_of_sums = listed_rows_of<type_list<Entity>, type_list<>, type_list<Declared>>;
    [[nodiscard]] static index_options engine_options(aggregate_options const& from) {
        return {from.max_attempts, from.delays, from.time, from.seed, {}, {}, from.bound};
    }

    shared<index_family> family_;
    aggregate_options options_;
};

} // namespace detail

/// A table of entities with maintained sums: an aggregate is a row of the same partition, changed in the transaction of its entities.
///
///     struct daily_sales {
///         std::string shop, day;
///         std::int64_t cents{}, orders{};
///         static daily_sales key(order const& of) { return {of.shop, of.day}; }       // where an order counts
///         void add(order const& one) { cents += one.cents, ++orders; }
///         void subtract(order const& one) { cents -= one.cents, --orders; }
///     };
///     ENTITABLE(daily_sales, partition_key(shop), row_key(literal("SALES:"), day), properties(cents, orders))
///     aggregated_table<order, daily_sales> orders{store, "orders"};
///
/// - Row keys of entity and aggregate must begin with different literals. `add` and `subtract` must undo each other exactly, as integers
///   do.
/// - An insert costs one read and one transaction of two operations; an update or a removal one read more, and one more if the entity moves
///   to another sum. The aggregate is a hot row: writers that collide start over. `salted_aggregate` splits it. A row whose sums are zero
///   again is not removed.
/// - A change that does not affect the sums does not write them.
///
/// Thread safety: safe to use from several threads. Copies are cheap. Writers that bypass it (`table<E>`) leave wrong sums: `verify`
/// reports them, `rebuild` rewrites them. A write of unknown effect ends with that error; entity and sums are written, or neither is.
template <mapped_entity Entity, class Declared>
class aggregated_table : public detail::aggregated_operations<Entity, Declared,
                             typename mapping<Entity>::partition_components, typename mapping<Entity>::row_components> {
    using base = detail::aggregated_operations<Entity, Declared, typename mapping<Entity>::partition_components,
        typename mapping<Entity>::row_components>;
    using base::core_;
    using declaration = detail::aggregate_declaration<Declared>;
    static_assert(detail::allow_aggregate<Entity, Declared>());

public:
    using value_type = Entity;                         ///< entity type
    using aggregate_type = typename declaration::type; ///< type of the sums

    /// `name`: as for `table`.
    aggregated_table(
        any_transport through, std::string name, aggregate_options const& how = {}, call_options options = {})
        : base(detail::table_core{std::move(through), std::move(name), std::move(options)}, how) {}

    [[nodiscard]] std::string const& name() const noexcept { return core_.name(); } ///< name of the table
    /// Creates the table; TableAlreadyExists if it exists.
    [[nodiscard]] result<void> create() const { return core_.create(); }
    /// Creates the table unless it exists; true if this call created it.
    [[nodiscard]] result<bool> create_if_absent() const { return core_.create_if_absent(); }
    /// The entities, for reads.
    [[nodiscard]] reader<Entity> entities() const {
        return reader<Entity>{detail::table_core{core_}.of_type(detail::pattern_of_type<Entity>)};
    }
    /// The sums, for reads.
    [[nodiscard]] reader<aggregate_type> aggregates() const {
        return reader<aggregate_type>{detail::table_core{core_}.of_type(detail::pattern_of_type<aggregate_type>)};
    }
    /// Returns the table of the entities without the sums: entities written through it are not counted until `rebuild`. For special tools.
    [[nodiscard]] table<Entity> unmaintained() const { return {core_.transport(), core_.name(), core_.options()}; }

    // ---- writes ----

    /// Inserts an entity; EntityAlreadyExists if one exists with its keys.
    [[nodiscard]] result<transacted> insert(Entity const& entity) const {
        return base::write(mutation_kind::insert, to_row(entity), any_etag);
    }
    /// Like `table::replace`; reads the stored entity first.
    [[nodiscard]] result<transacted> replace(Entity const& entity, etag_condition condition) const {
        return base::write(mutation_kind::replace, to_row(entity), condition);
    }
    /// Inserts the entity, or replaces the stored one, which it reads first.
    [[nodiscard]] result<transacted> insert_or_replace(Entity const& entity) const {
        return base::write(mutation_kind::insert_or_replace, to_row(entity), any_etag);
    }

    // ---- reads ----

    /// Returns the sums with the keys of `place`, whose other members are ignored; without a row, a new aggregate. Cost: one query. The
    /// parts of a salted aggregate are of the same moment if the service returns them in one page.
    [[nodiscard]] result<aggregate_type> sums(aggregate_type const& place) const {
        return detail::sums_at<Declared>(core_, place);
    }
};

ENTITABLE_END_NAMESPACE
