// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `indexed_table<E, Indexes...>`: a table that is queried by several keys. Each index is a struct derived from the entity, with keys of its
/// own; every write keeps the index rows.

#include <entitable/client/reader.hpp>
#include <entitable/core/try.hpp>
#include <entitable/index/detail/index_build.hpp>
#include <entitable/index/detail/indexed_operations.hpp>
#include <entitable/index/index_declarations.hpp>
#include <entitable/index/indexed_batch.hpp>
#include <entitable/index/indexed_query.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Finds a place for each index that needs one.
template <class Index, class... Places>
[[nodiscard]] table_core place_of_index(table_core const& main, in_table<Places> const&... places) {
    std::optional<table_core> found;
    [[maybe_unused]] auto const look = [&]<class Place>(in_table<Place> const& one) {
        if constexpr (std::is_same_v<Place, Index>) {
            found.emplace(one.through, one.name, main.options());
        }
    };
    (look(places), ...);
    return found ? *std::move(found) : main;
}

/// The index at this place of a list.
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
///   operations for k indexes. What replaces or removes reads first.
/// - An index elsewhere costs requests: 4 for an insert, 7 for a removal, 9 for an entity that moves in it. Its row exists whenever
///   its entity does; a program that ends in between can leave surplus rows, which `where` does not return and `repair` removes.
///   The row key of such an entity has at most 474 UTF-16 code units, because that of an intent holds it: KeyValueTooLarge.
/// - An entity whose component of an index key is an optional, and absent, has no row in that index.
/// - Each object, with its copies, reads the declaration of the indexes before its first call and again after `index_options::lease`, and
///   sends no write by an older one. Where others keep an index of these entities that it does not have, it writes nothing:
///   DeclarationDiffers. Index types of one table have names of their own.
///
/// Thread safety: safe to use from several threads, and from any number of programs, as long as all write through this type. Writers that
/// bypass it (`table<E>`, `unmaintained`) leave index rows missing: `verify` reports them, `repair` mends them. Copies are cheap.
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
        static_assert(position<Index> != sizeof...(Declared), "this is no index of the table");
    }
    template <class Wanted, class... Places>
    static consteval bool has_place() {
        return !detail::index_declaration<Wanted>::is_elsewhere ||
            (std::is_same_v<detail::index_of<Wanted>, Places> || ...);
    }

public:
    using value_type = Entity; ///< what it holds

    /// `name`: that of the table of the entities. A place for each index elsewhere follows: `in_table<by_club>{store, "clubs"}`. Sends
    /// nothing yet.
    template <class... Indexes>
    indexed_table(any_transport through, std::string name, in_table<Indexes>... places)
        : indexed_table(detail::table_core{std::move(through), std::move(name), {}}, index_options{}, places...) {}
    /// The same with options of its own, and of its calls.
    template <class... Indexes>
    indexed_table(any_transport through, std::string name, index_options how, in_table<Indexes>... places)
        : indexed_table(detail::table_core{std::move(through), std::move(name), {}}, how, places...) {}
    template <class... Indexes>
    indexed_table(
        any_transport through, std::string name, call_options options, index_options how, in_table<Indexes>... places)
        : indexed_table(detail::table_core{std::move(through), std::move(name), std::move(options)}, how, places...) {}

    [[nodiscard]] std::string const& name() const noexcept { return family()->main.name(); } ///< of the entities' table
    /// The entities, for reads.
    [[nodiscard]] reader<Entity> entities() const {
        return {family()->main.transport(), family()->main.name(), family()->main.options()};
    }
    /// The table of the entities past the indexes: what is written through it has no index rows, and `repair` has to write them. For tools
    /// that know.
    [[nodiscard]] table<Entity> unmaintained() const {
        return {family()->main.transport(), family()->main.name(), family()->main.options()};
    }
    /// The rows of an index, for `bulk_remove` of those that a retired one has left, and for tools that know.
    template <class Index>
    [[nodiscard]] table<Index> unmaintained() const {
        check_index<Index>();
        auto const& place = family()->places[position<Index>];
        return {place.transport(), place.name(), family()->main.options()};
    }

    // ---- the tables themselves ----

    /// Creates the tables of entities and indexes that do not exist. True if this call created that of the entities. Where it holds no
    /// entity of this type, the indexes are declared and ready; else see `build`. Nothing is written to a table whose indexes were not
    /// declared (DeclarationMissing).
    [[nodiscard]] result<bool> create_if_absent() const { return detail::create_indexed(*family()); }
    /// The same; TableAlreadyExists where the table of the entities exists.
    [[nodiscard]] result<void> create() const {
        ENTITABLE_TRY(bool const made, create_if_absent());
        return made ? result<void>{}
                    : result<void>{failure{error_code::table_already_exists, "the table is there already"}};
    }
    /// Drops the tables of entities and of indexes elsewhere, with everything in them.
    [[nodiscard]] result<void> drop() const { return detail::drop_indexed(*family()); }

    // ---- writes ----

    /// Inserts an entity; EntityAlreadyExists when there is one with its keys, or with its key in a unique index.
    [[nodiscard]] result<indexed> insert(Entity const& entity) const {
        return base::write(mutation_kind::insert, to_row(entity), any_etag);
    }
    /// As `table::replace`; it reads the stored entity first.
    [[nodiscard]] result<indexed> replace(Entity const& entity, etag_condition condition) const {
        return base::write(mutation_kind::replace, to_row(entity), condition);
    }
    /// As `table::merge`; it reads the stored entity first.
    [[nodiscard]] result<indexed> merge(Entity const& entity, etag_condition condition) const {
        return base::write(mutation_kind::merge, to_row(entity), condition);
    }
    /// Merges only the members that are named into the stored entity; it reads that first. None of them is `absent`: `update` removes.
    template <class... Values, class... ChangesAndCondition>
    [[nodiscard]] result<indexed> merge(
        keys_at<Values...> const& keys, ChangesAndCondition const&... changes_and_condition) const {
        static_assert(!detail::removes_members<ChangesAndCondition...>,
            "a merge into an indexed table removes no property: use update(...)");
        auto made = detail::partial_merge<Entity>(keys, changes_and_condition...);
        return base::write(mutation_kind::merge, std::move(made.entity), made.condition);
    }
    /// Inserts, or replaces whatever is stored; it reads that first.
    [[nodiscard]] result<indexed> insert_or_replace(Entity const& entity) const {
        return base::write(mutation_kind::insert_or_replace, to_row(entity), any_etag);
    }
    /// Inserts, or merges into whatever is stored; it reads that first.
    [[nodiscard]] result<indexed> insert_or_merge(Entity const& entity) const {
        return base::write(mutation_kind::insert_or_merge, to_row(entity), any_etag);
    }
    /// Removes an entity and inserts another one in its partition, with their index rows, in one transaction: for keys that hold what may
    /// change. With the same keys it replaces the entity. Errors: ResourceNotFound when `from` does not exist; EntityAlreadyExists when `to`
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
    /// Several changes of one partition, all or nothing.
    [[nodiscard]] indexed_batch<Entity> batch() const { return indexed_batch<Entity>{family()}; }

    // ---- queries ----

    /// As `table::where`.
    template <shape_set Shapes, shape_set Negated>
    [[nodiscard]] auto where(predicate<Entity, Shapes, Negated> const& condition) const {
        return entities().where(condition);
    }
    [[nodiscard]] auto scan_table() const { return entities().scan_table(); } ///< as `table::scan_table`

    /// Queries by an index: `runners.by<by_age>().where(a::race == "NYC" && a::age >= 50)`. A query by an index that is not ready returns
    /// IndexNotReady when it is run, never an empty result.
    template <class Index>
    class indexed_by {
    public:
        /// The entities whose index rows satisfy the predicate. Does not compile when it would scan the table of the index.
        template <shape_set Shapes, shape_set Negated>
        [[nodiscard]] auto where(predicate<Index, Shapes, Negated> const& condition) const {
            return make(rows_.where(condition));
        }
        /// Says that the fields are those of another type.
        template <class Other, shape_set Shapes, shape_set Negated>
        void where(predicate<Other, Shapes, Negated> const&) const {
            static_assert(detail::never<Other>,
                "where(...) of an index takes fields of this index: using a = entitable::fields<by_age>");
        }
        /// All entities that the index has; reads all of its rows.
        [[nodiscard]] auto scan_index() const { return make(rows_.scan_table()); }

    private:
        friend class indexed_table;
        explicit indexed_by(shared<detail::index_family> family)
            : family_(std::move(family)),
              rows_(family_->places[position<Index>].transport(), family_->places[position<Index>].name(),
                  family_->main.options()) {}

        template <access_path Path>
        [[nodiscard]] indexed_query<Index, Entity, Path> make(query<Index, Path> asked) const {
            shared<detail::index_family> const& family = detail::family_or_absent<sizeof...(Declared)>(family_);
            call context{family->main.options(), *family->options.time};
            if (auto ready = family->check_ready(position<Index>, context); !ready) {
                asked =
                    query<Index, Path>{rows_.transport(), rows_.options(), rows_.name(), std::move(ready).as_failure()};
            }
            return {family, position<Index>, std::move(asked)};
        }

        shared<detail::index_family> family_;
        table<Index> rows_;
    };
    /// One of its indexes.
    template <class Index>
    [[nodiscard]] indexed_by<Index> by() const {
        check_index<Index>();
        return indexed_by<Index>{family()};
    }

    // ---- care ----

    /// Counts index rows that are missing, dangling or different, and keys that two entities have; those of a retired index are left out.
    /// Writers may be at work. Cost: a scan of everything, and two more for each 65,536 rows among which some differ; memory for 4,096 sums
    /// an index, and for these rows.
    [[nodiscard]] result<index_verification>(verify)(std::size_t max_samples = 10) const {
        return detail::verify_indexes(*family(), max_samples);
    }
    /// Completes writes that did not end, writes index rows that are missing and removes those that dangle. It never changes an entity: two
    /// that have one key of a unique index stay, see `violations`. Any program may call it at any time; writers may be at work.
    [[nodiscard]] result<index_repair> repair() const { return detail::repair_indexes(*family()); }
    /// The keys of unique indexes that several entities have: left by writers that went past the index. Cost as of `verify`.
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
    /// Settles one: `keep`, which is one of its entities, gets the key, and **the others are removed**, with their index rows, where they
    /// still have it. To keep them, give them another key instead: `update`. Returns how many were removed. May be called again where it did
    /// not end. InvalidInput where `keep` is not one of the entities.
    [[nodiscard]] result<std::uint64_t> resolve_violation(
        index_violation<Entity> const& which, reference<Entity> const& keep) const {
        detail::found_violation found{which.index, which.key, {}};
        for (reference<Entity> const& each : which.entities) {
            found.entities.push_back({each.partition_key, each.row_key});
        }
        return detail::resolve_violation(*family(), found, {keep.partition_key, keep.row_key});
    }
    /// Completes writes that did not end; nothing else. A writer that is at work begins again. Cost: a scan of the entities' table.
    [[nodiscard]] result<index_repair> apply_pending() const {
        result<index_repair> done{std::in_place};
        if (auto applied = detail::apply_intents(*family(), *done); !applied) {
            done = std::move(applied).as_failure();
        }
        return done;
    }
    /// Makes an index of a table that has entities ready: writes the rows of all of them in bulk, while others write through a table that has
    /// the index. First it waits until no program goes by another declaration (`index_options::lease` and `longest_request`, two and a half
    /// minutes), but for the first index of a table without any, to which nobody writes. It continues a build that was stopped. An index that
    /// is ready is compared and mended, and stays ready.
    ///
    /// Cost: one request for each 100 rows, three scans of the entities and two of the index; memory for 50,000 rows.
    template <class Index>
    [[nodiscard]] result<index_repair> build() const {
        check_index<Index>();
        return detail::build_index(*family(), position<Index>);
    }
    /// Ends an index: waits until no reader uses it (`index_options::lease` and `longest_request`); then nobody keeps it. May be called again
    /// where it did not end.
    template <class Index>
    [[nodiscard]] result<void> retire() const {
        check_index<Index>();
        return detail::retire_index(*family(), family()->shapes[position<Index>].name);
    }
    /// The same by the name of its type, for a program that does not have it any more. ResourceNotFound where the table has no such index.
    [[nodiscard]] result<void> retire(std::string_view name) const { return detail::retire_index(*family(), name); }
    /// The stored state of an index.
    template <class Index>
    [[nodiscard]] result<index_state> state() const {
        check_index<Index>();
        call context{family()->main.options(), *family()->options.time};
        ENTITABLE_TRY(auto const stored, family()->stored_state_of(position<Index>, context));
        return stored.state;
    }

private:
    /// The tables; after a move some that answer InvalidInput.
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
              detail::rows_with(detail::leading_literal(mapping<Entity>::row_layout)), how)) {
        static_assert((has_place<Declared, Indexes...>() && ...),
            "an index elsewhere needs a table: in_table<by_club>{store, \"clubs\"} behind the name");
    }
};

ENTITABLE_END_NAMESPACE
