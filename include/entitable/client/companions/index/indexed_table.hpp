// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `indexed_table<E, Indexes...>`: a table that is queried by several keys. Each index is a struct derived from the entity, with its own
/// keys; every write maintains the index rows.

#include <entitable/client/companions/index/detail/index_build.hpp>
#include <entitable/client/companions/index/detail/indexed_operations.hpp>
#include <entitable/client/companions/index/detail/maintained_rows.hpp>
#include <entitable/client/companions/index/index_declarations.hpp>
#include <entitable/client/companions/index/indexed_query.hpp>
#include <entitable/client/reader.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Position of an index in a list.
template <class Index, class... Declared>
[[nodiscard]] consteval std::size_t position_of_index() {
    std::size_t position = 0;
    bool found = false;
    ((found = found || std::is_same_v<Index, index_of<Declared>>, position += found ? 0U : 1U), ...);
    return position;
}

} // namespace detail

/// A table of entities of one type with indexes.
///
///     struct by_age : runner {};
///     ENTITABLE(by_age, partition_key(race), row_key(literal("AGE:"), width(age, 3), width(bib, 5)), properties(name))
///     indexed_table<runner, by_age, elsewhere<by_club>> runners{store, "runners", in_table<by_club>{store, "clubs"}};
///
/// - An index in the same partition costs no request: its rows are written in the transaction of the entity, which has up to 1 + 2k
///   operations for k indexes. Replacements and removals read first.
/// - An index elsewhere (a global index) costs requests: 4 for an insert, 7 for a removal, 9 for an entity that moves in it. Its row exists
///   whenever its entity does; a program that ends in between can leave surplus rows, which `where` does not return and `repair` removes.
///   The row key of such an entity must have at most 474 UTF-16 code units, because an intent's row key contains it: KeyValueTooLarge.
/// - An entity in which an optional component of an index key is absent has no row in that index.
/// - Each object, with its copies, reads the declaration of the indexes before its first call and again after `index_options::lease`, and
///   sends no write based on an older one. If others maintain an index of these entities that it does not declare, it writes nothing:
///   DeclarationDiffers. Index types of one table must have distinct names.
///
/// Thread safety: safe to use from several threads, and from any number of programs, as long as all write through this type. Writers that
/// bypass it (`table<E>`, `unmaintained`) leave index rows missing: `verify` reports them, `repair` writes them. Copies are cheap.
template <mapped_entity Entity, class... Declared>
class indexed_table : public detail::indexed_operations<Entity, typename mapping<Entity>::partition_components,
                          typename mapping<Entity>::row_components> {
    using base = detail::indexed_operations<Entity, typename mapping<Entity>::partition_components,
        typename mapping<Entity>::row_components>;
    using base::family_;
    static_assert((detail::allow_index<Entity, Declared>() && ...));

    template <class Index>
    static constexpr std::size_t position = detail::position_of_index<Index, Declared...>();
    template <class Index>
    static consteval void check_index() {
        static_assert(position<Index> != sizeof...(Declared), "this type is not an index of the table");
    }
    template <class Wanted, class... Places>
    static consteval bool has_place() {
        return !detail::index_declaration<Wanted>::is_elsewhere ||
            (std::is_same_v<detail::index_of<Wanted>, Places> || ...);
    }

public:
    using value_type = Entity; ///< entity type

    /// `name`: name of the table of the entities. A table for each index elsewhere follows: `in_table<by_club>{store, "clubs"}`. Sends
    /// nothing.
    template <class... Indexes>
    indexed_table(any_transport through, std::string name, in_table<Indexes>... places)
        : indexed_table(detail::table_core{std::move(through), std::move(name), {}}, index_options{}, places...) {}
    /// Does the same with index options and call options.
    template <class... Indexes>
    indexed_table(any_transport through, std::string name, index_options how, in_table<Indexes>... places)
        : indexed_table(detail::table_core{std::move(through), std::move(name), {}}, how, places...) {}
    template <class... Indexes>
    indexed_table(
        any_transport through, std::string name, call_options options, index_options how, in_table<Indexes>... places)
        : indexed_table(detail::table_core{std::move(through), std::move(name), std::move(options)}, how, places...) {}

    [[nodiscard]] std::string const& name() const noexcept { return family()->main.name(); } ///< the entities' table
    /// The entities, for reads.
    [[nodiscard]] reader<Entity> entities() const {
        return reader<Entity>{detail::table_core{family()->main}.of_type(detail::pattern_of_type<Entity>)};
    }
    /// Returns the table of the entities without index maintenance: entities written through it have no index rows until `repair`. For
    /// special tools.
    [[nodiscard]] table<Entity> unmaintained() const {
        return {family()->main.transport(), family()->main.name(), family()->main.options()};
    }
    /// Returns the rows of an index, for `bulk_remove` of the rows of a retired index, and for special tools.
    template <class Index>
    [[nodiscard]] table<Index> unmaintained() const {
        check_index<Index>();
        auto const& place = family()->places[position<Index>];
        return {place.transport(), place.name(), family()->main.options()};
    }

    // ---- the tables themselves ----

    /// Creates the tables of entities and indexes that do not exist. True if this call created the table of the entities. If it has no
    /// entity of this type, the indexes are declared and ready; otherwise see `build`. A table without declared indexes refuses writes
    /// (DeclarationMissing).
    [[nodiscard]] result<bool> create_if_absent() const { return detail::create_indexed(*family()); }
    /// Does the same; TableAlreadyExists if the table of the entities exists.
    [[nodiscard]] result<void> create() const {
        ENTITABLE_TRY(bool const made, create_if_absent());
        return made ? result<void>{}
                    : result<void>{failure{error_code::table_already_exists, "the table already exists"}};
    }
    /// Drops the tables of entities and of indexes elsewhere, with all rows.
    [[nodiscard]] result<void> drop() const { return detail::drop_indexed(*family()); }

    // ---- writes ----

    /// Inserts an entity; EntityAlreadyExists if one exists with its keys, or with its key in a unique index.
    [[nodiscard]] result<indexed> insert(Entity const& entity) const {
        return base::write(mutation_kind::insert, to_row(entity), any_etag);
    }
    /// Like `table::replace`; reads the stored entity first.
    [[nodiscard]] result<indexed> replace(Entity const& entity, etag_condition condition) const {
        return base::write(mutation_kind::replace, to_row(entity), condition);
    }
    /// Like `table::merge`; reads the stored entity first.
    [[nodiscard]] result<indexed> merge(Entity const& entity, etag_condition condition) const {
        return base::write(mutation_kind::merge, to_row(entity), condition);
    }
    /// Merges only the given members into the stored entity, which it reads first. None of them may be `absent`: use `update` to remove.
    template <class... Values, class... ChangesAndCondition>
    [[nodiscard]] result<indexed> merge(
        keys_at<Values...> const& keys, ChangesAndCondition const&... changes_and_condition) const {
        static_assert(!detail::removes_members<ChangesAndCondition...>,
            "a merge into an indexed table cannot remove a property: use update(...)");
        auto made = detail::partial_merge<Entity>(keys, changes_and_condition...);
        return base::write(mutation_kind::merge, std::move(made.entity), made.condition);
    }
    /// Inserts the entity, or replaces the stored one, which it reads first.
    [[nodiscard]] result<indexed> insert_or_replace(Entity const& entity) const {
        return base::write(mutation_kind::insert_or_replace, to_row(entity), any_etag);
    }
    /// Inserts the entity, or merges with the stored one, which it reads first.
    [[nodiscard]] result<indexed> insert_or_merge(Entity const& entity) const {
        return base::write(mutation_kind::insert_or_merge, to_row(entity), any_etag);
    }
    /// Removes an entity and inserts another one in its partition, with their index rows, in one transaction: for keys with values that may
    /// change. With the same keys it replaces the entity. Errors: ResourceNotFound if `from` does not exist; EntityAlreadyExists if `to`
    /// does; CommandsInBatchActOnDifferentPartitions for two partitions.
    [[nodiscard]] result<indexed> rekey(Entity const& from, Entity const& to) const {
        ENTITABLE_TRY(row const old, to_row(from));
        ENTITABLE_TRY(row const made, to_row(to));
        auto const body = [&](detail::transaction_scope& all) -> result<void> {
            if (old.row_key() == made.row_key()) {
                all.change(mutation_kind::replace, made, true);
                return {};
            }
            all.change(mutation_kind::remove, row{old.partition_key(), old.row_key(), {}}, true);
            all.change(mutation_kind::insert, made, false);
            return {};
        };
        return detail::write_indexed(
            *family(), std::string{old.partition_key()}, detail::transaction_with(family()->options), body);
    }
    /// Starts a batch: several changes of one partition, all or nothing.
    [[nodiscard]] entitable::batch<Entity> batch() const {
        return entitable::batch<Entity>{family_ ? detail::core_of(family_) : family()->main};
    }

    // ---- queries ----

    /// See `table::where`.
    template <shape_set Shapes, shape_set Negated>
    [[nodiscard]] auto where(predicate<Entity, Shapes, Negated> const& condition) const {
        return entities().where(condition);
    }
    [[nodiscard]] auto scan_table() const { return entities().scan_table(); } ///< see `table::scan_table`

    /// Selects one of the indexes.
    template <class Index>
    [[nodiscard]] indexed_by<Index, Entity> by() const {
        check_index<Index>();
        return {family(), position<Index>};
    }

    // ---- maintenance ----

    /// Counts index rows that are missing, dangling or different, and keys that two entities have; skips retired indexes. Writers may be
    /// active. Cost: a scan of all tables, and two more for each 65,536 rows if some of them differ; memory for 4,096 sums per index, and
    /// for these rows.
    [[nodiscard]] result<index_verification>(verify)(std::size_t max_samples = 10) const {
        return detail::verify_indexes(*family(), max_samples);
    }
    /// Completes writes that did not end, writes missing index rows and removes dangling ones. It never changes an entity: two with the
    /// same key of a unique index are left, see `violations`. Any program may call it at any time; writers may be active.
    [[nodiscard]] result<index_repair> repair() const { return detail::repair_indexes(*family()); }
    /// Returns the keys of unique indexes that several entities have, caused by writers that bypassed the index. Cost as for `verify`.
    [[nodiscard]] result<std::vector<index_violation<Entity>>> violations() const {
        ENTITABLE_TRY(auto const found, detail::violations_of_indexes(*family()));
        result<std::vector<index_violation<Entity>>> made{std::in_place};
        for (detail::found_violation const& each : found) {
            made->push_back({each.index, each.key, {}});
            for (row_keys const& one : each.entities) {
                made->back().entities.push_back({one.partition_key, one.row_key});
            }
        }
        return made;
    }
    /// Settles a violation: `keep`, which must be one of its entities, gets the key, and **the others are removed**, with their index rows,
    /// if they still have it. To retain them, give them another key instead, with `update`. Returns how many were removed. May be called
    /// again after an interruption. Errors: InvalidInput if `keep` is not one of the entities.
    [[nodiscard]] result<std::uint64_t> resolve_violation(
        index_violation<Entity> const& which, reference<Entity> const& keep) const {
        detail::found_violation found{which.index, which.key, {}};
        for (reference<Entity> const& each : which.entities) {
            found.entities.push_back({each.partition_key, each.row_key});
        }
        return detail::resolve_violation(*family(), found, {keep.partition_key, keep.row_key});
    }
    /// Only completes interrupted writes. An active writer starts over. Cost: a scan of the entities' table.
    [[nodiscard]] result<index_repair> apply_pending() const {
        result<index_repair> done{std::in_place};
        if (auto applied = detail::apply_intents(*family(), *done); !applied) {
            done = std::move(applied).as_failure();
        }
        return done;
    }
    /// Makes an index of a table with entities ready: writes the rows of all of them in bulk, while other programs with this index write.
    /// First it waits until no program relies on another declaration (`index_options::lease` and `longest_request`, two and a half
    /// minutes), except for the first index of a table without indexes, which refuses writes. It continues an interrupted build. An index
    /// that is ready is compared and repaired, and stays ready.
    ///
    /// Cost: one request for each 100 rows, three scans of the entities and two of the index; memory for 50,000 rows.
    template <class Index>
    [[nodiscard]] result<index_repair> build() const {
        check_index<Index>();
        return detail::build_index(*family(), position<Index>);
    }
    /// Ends an index: waits until no reader uses it (`index_options::lease` and `longest_request`); then no writer maintains it. May be
    /// called again after an interruption.
    template <class Index>
    [[nodiscard]] result<void> retire() const {
        check_index<Index>();
        return detail::retire_index(*family(), family()->shapes[position<Index>].name);
    }
    /// Does the same by the name of the type, for a program that no longer declares it. Errors: ResourceNotFound if the table does not have
    /// that index.
    [[nodiscard]] result<void> retire(std::string_view name) const { return detail::retire_index(*family(), name); }
    /// Reads the stored state of an index.
    template <class Index>
    [[nodiscard]] result<index_state> state() const {
        check_index<Index>();
        call context{family()->main.options(), *family()->options.time};
        ENTITABLE_TRY(auto const stored, family()->stored_state_of(position<Index>, context));
        return stored.state;
    }

private:
    /// The tables; after a move, tables that return InvalidInput.
    [[nodiscard]] shared<detail::index_family> const& family() const {
        return detail::family_or_absent<sizeof...(Declared)>(family_);
    }

    template <class... Indexes>
    indexed_table(detail::table_core main, index_options how, in_table<Indexes> const&... places)
        : base(shared<detail::index_family>::make(main,
              std::vector<detail::index_shape>{detail::shape_of<Entity, Declared>()...},
              std::vector<detail::table_core>{
                  detail::place_of_index<detail::index_of<Declared>, Indexes...>(main, places...)...},
              &detail::derive_all<Entity, Declared...>,
              std::vector<detail::entity_type>(1, {&detail::pattern_of_type<Entity>, true, {}}), how)) {
        static_assert((has_place<Declared, Indexes...>() && ...),
            "an index elsewhere needs a table: in_table<by_club>{store, \"clubs\"} after the name");
    }
};

ENTITABLE_END_NAMESPACE
