// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `table<A, B, ...>`: entities of several types in one table, so that they share partitions, batches and transactions.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/listed_partition.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A table of entities of several types. The keys of any two types must differ at a position known in both: begin the row keys with
/// different literals, `row_key(literal("INVOICE:"), number)`; row keys that begin with numbers differ from those that begin with literals.
///
///     table<counter, invoice> books{store, "books"};
///     books.transact("ACME", [](transaction<counter, invoice>& all) -> result<void> { ... });
///
/// The list can have indexes (structs derived from an entity) and sums (structs with `key`, `add` and `subtract` of an entity), which each
/// write maintains in the same transaction: `by<by_customer>().where(...)`, `sum(daily_sales{...})`. The table is then
/// declared: programs with a different list are refused, see `create_if_absent`, `build` and `retire`.
///
///     table<counter, invoice, by_customer, daily_sales> books{store, "books"};
///
/// - An index in the partition of its entities costs no request: its rows are written in the transaction of the entity, which has up to
///   1 + 2k operations for k indexes. Replacements and removals read first. For an index in other partitions see `elsewhere`.
/// - An entity in which an optional component of an index key is absent has no row in that index.
/// - `add` and `subtract` of sums must undo each other exactly, as integers do. An insert reads each row of sums that it changes; a
///   replacement or a removal reads the entity as well. A row of sums is hot: writers that collide start over. `salted_aggregate` splits
///   it. A change that does not affect the sums does not write them; a row whose sums are zero again is not removed.
/// - Each object, together with its copies, reads the declaration before its first call and again after
///   `table_options::lease`, and sends no write based on an older declaration. If others maintain an index or sums that
///   it does not declare, it writes nothing: DeclarationDiffers. Names of these types must be distinct.
/// - Writers that bypass the list (`table<E>`, `unmaintained`) leave index rows missing and sums wrong: `verify` reports them.
///
/// The functions are the same as in `table<E>`. If no argument determines the type, name it, unless there is only one entity type:
/// `update<counter>("ACME", change)`. Copies are cheap. Thread safety: safe to use from several threads.
template <class First, class Second, class... More>
class table<First, Second, More...> : public detail::reader_with_transactions<First, Second, More...> {
    static_assert(detail::allow_company<First, First, Second, More...>() &&
        detail::allow_company<Second, First, Second, More...>() &&
        (detail::allow_company<More, First, Second, More...>() && ...));
    using base = detail::reader_with_transactions<First, Second, More...>;
    using entities = detail::entities_of<First, Second, More...>;
    using only = typename detail::only_entity<entities>::type;
    template <class E>
    static constexpr bool is_entity = detail::is_in_list<E, entities> || detail::is_wide_in<E, First, Second, More...>;
    template <class E>
    using written_of = detail::written_of<E, First, Second, More...>;
    template <class E>
    using updated_of = detail::updated_of<E, First, Second, More...>;
    template <class E>
    static consteval bool allows() {
        return detail::allow_write<E, entities, First, Second, More...>();
    }

public:
    using base::base;

    /// Returns the same table with other options for its calls.
    [[nodiscard]] table with(call_options options) const {
        table changed{*this};
        changed.use(std::move(options));
        return changed;
    }
    /// Returns the entities of one type as a separate table, for functions that take a `table<E>`. Writes maintain
    /// indexes and sums; reads skip rows of other types.
    template <class E = only>
    [[nodiscard]] table<E> of() const {
        if constexpr (base::template is_wide<E>) { detail::refuse_wide<E>(); }
        if constexpr (allows<E>()) {
            return table<E>{base::sending_core().of_type(detail::pattern_of_type<E>)};
        } else {
            return table<E>{core_};
        }
    }
    /// Returns only the rows of one type, for special tools: writes do not change indexes and sums; `repair` and
    /// `build` correct them afterwards. The returned table contains the rows of all types whose keys have the form of
    /// those of E. With the type of a retired index, it serves to `bulk_remove` the index rows.
    template <class E = only>
    [[nodiscard]] table<E> unmaintained() const {
        static_cast<void>(base::template allows<E>());
        if constexpr (base::template is_wide<E>) { detail::refuse_wide<E>(); }
        auto const all = base::template rows<E>();
        return table<E>{detail::table_core{all.store(), all.name(), all.options()}};
    }

    // ---- the table itself ----

    /// Creates the table, and the tables of indexes elsewhere; TableAlreadyExists if it exists.
    [[nodiscard]] result<void> create() const {
        if constexpr (base::is_maintained) {
            ENTITABLE_TRY(bool const made, create_if_absent());
            return made ? result<void>{}
                        : result<void>{failure{error_code::table_already_exists, "the table already exists"}};
        } else {
            return core_.create();
        }
    }
    /// Creates the table unless it exists, and the tables of indexes elsewhere; true if this call created it. If the
    /// table contains no entity with an index or a sum, these are declared and ready; otherwise see `build`. A table
    /// without declared indexes and sums refuses writes (DeclarationMissing).
    [[nodiscard]] result<bool> create_if_absent() const {
        if constexpr (base::is_maintained) {
            return detail::create_indexed(base::family());
        } else {
            return core_.create_if_absent();
        }
    }
    /// Deletes the table with all its rows, and the tables of indexes elsewhere; ResourceNotFound if it does not exist.
    [[nodiscard]] result<void> drop() const {
        if constexpr (base::is_maintained) {
            return detail::drop_indexed(base::family());
        } else {
            return core_.drop();
        }
    }
    /// Deletes the table if it exists; true if this call deleted it.
    [[nodiscard]] result<bool> drop_if_present() const {
        auto const gone = drop();
        bool const none = !gone &&
            (gone.error().code == error_code::table_not_found || gone.error().code == error_code::resource_not_found);
        return gone || none ? result<bool>{gone.has_value()} : result<bool>{failure{gone.error()}};
    }

    // ---- writes of one entity ----

    /// See `table<E>::insert`.
    template <class E = only>
    [[nodiscard]] result<written_of<E>> insert(E const& entity) const {
        return write(mutation_kind::insert, entity, any_etag);
    }
    /// See `table<E>::replace`.
    template <class E = only>
    [[nodiscard]] result<written_of<E>> replace(E const& entity, etag_condition condition) const {
        return write(mutation_kind::replace, entity, std::move(condition));
    }
    /// See `table<E>::merge`.
    template <class E = only>
    [[nodiscard]] result<written> merge(E const& entity, etag_condition condition) const {
        refuse_merge<E>();
        if constexpr (detail::replaced_by_merge<E> && allows<E>()) {
            return base::template rows<E>().merge(entity, std::move(condition));
        }
        return write(mutation_kind::merge, entity, std::move(condition));
    }
    /// Replaces only the given members: `merge(at("ACME"), c::last = 7, any_etag)`; see `table<E>::merge`. The members determine the type.
    template <class... Values, class... ChangesAndCondition>
    [[nodiscard]] result<written> merge(
        keys_at<Values...> const& keys, ChangesAndCondition const&... changes_and_condition) const {
        using E = detail::entity_of_changes<detail::type_of_listed<First>, ChangesAndCondition...>;
        refuse_merge<E>();
        if constexpr (allows<E>() && !base::template is_wide<E>) {
            return base::template rows<E>().merge(keys, changes_and_condition...);
        } else {
            return detail::reported();
        }
    }
    /// See `table<E>::insert_or_replace`.
    template <class E = only>
    [[nodiscard]] result<written_of<E>> insert_or_replace(E const& entity) const {
        return write(mutation_kind::insert_or_replace, entity, any_etag);
    }
    /// The same as `insert_or_replace`.
    template <class E = only>
    [[nodiscard]] result<written_of<E>> upsert(E const& entity) const {
        return insert_or_replace(entity);
    }
    /// See `table<E>::insert_or_merge`.
    template <class E = only>
    [[nodiscard]] result<written> insert_or_merge(E const& entity) const {
        refuse_merge<E>();
        detail::refuse_merge_beside_former_names<typename mapping<E>::properties>();
        return write(mutation_kind::insert_or_merge, entity, any_etag);
    }
    /// See `table<E>::remove`. With `removal::archived` the entity is still counted in its sums, which then cover both archived and stored
    /// entities. If it is inserted again, it is counted once more. Cost: one more read and operation for each row of sums.
    template <class E>
        requires is_entity<E>
    [[nodiscard]] result<written_of<E>> remove(E const& entity, etag_condition condition, removal how = {}) const {
        if constexpr (base::template is_wide<E>) {
            return base::template rows<E>().remove(entity, std::move(condition));
        } else {
            return base::template rows<E>().remove(entity, std::move(condition), how);
        }
    }
    // Writes without an ETag are refused with one message, as in a table of one type.
    /// Does not compile: a removal needs an ETag, or any_etag.
    template <class E>
        requires is_entity<E>
    result<written_of<E>> remove(E const&) const {
        detail::refuse_blind_removal<E>();
        return detail::reported();
    }
    /// Does not compile: an update needs an ETag, or any_etag.
    template <class E>
    result<written_of<E>> replace(E const&) const {
        static_assert(detail::never<E>, "an update needs an ETag: pass the ETag that was read, or any_etag");
        return detail::reported();
    }
    /// Does not compile: an update needs an ETag, or any_etag.
    template <class E>
    result<written> merge(E const&) const {
        static_assert(detail::never<E>, "an update needs an ETag: pass the ETag that was read, or any_etag");
        return detail::reported();
    }
    /// Removes the entity with these keys: `remove<invoice>("ACME", 7, any_etag)`, `remove<invoice>("ACME", 7, any_etag,
    /// removal::archived)`; see `table<E>::remove`.
    template <class E = only, class FirstKey, class... KeysAndCondition>
        requires(!is_entity<FirstKey>)
    [[nodiscard]] result<written_of<E>> remove(
        FirstKey const& first, KeysAndCondition const&... keys_and_condition) const {
        if constexpr (allows<E>()) {
            return base::template rows<E>().remove(first, keys_and_condition...);
        } else {
            return detail::reported();
        }
    }
    /// See `table<E>::remove_if_present`.
    template <class E = only, class... KeysAndCondition>
    [[nodiscard]] result<std::optional<written_of<E>>> remove_if_present(
        KeysAndCondition const&... keys_and_condition) const {
        if constexpr (allows<E>()) {
            return base::template rows<E>().remove_if_present(keys_and_condition...);
        } else {
            return detail::reported();
        }
    }
    /// See `table<E>::update`: `update<counter>("ACME", [](counter& one) { ++one.last; })`.
    template <class E = only, class... KeysAndChange>
    [[nodiscard]] result<updated_of<E>> update(KeysAndChange&&... keys_and_change) const {
        if constexpr (allows<E>()) {
            return base::template rows<E>().update(std::forward<KeysAndChange>(keys_and_change)...);
        } else {
            return detail::reported();
        }
    }
    /// See `table<E>::update_if_present`.
    template <class E = only, class... KeysAndChange>
    [[nodiscard]] result<std::optional<updated_of<E>>> update_if_present(KeysAndChange&&... keys_and_change) const {
        if constexpr (allows<E>()) {
            return base::template rows<E>().update_if_present(std::forward<KeysAndChange>(keys_and_change)...);
        } else {
            return detail::reported();
        }
    }

    /// Removes an entity and inserts another entity in its partition, in one transaction; used for keys with values that may change. With the same
    /// keys it replaces the entity. Errors: ResourceNotFound if `from` does not exist; EntityAlreadyExists if `to` does;
    /// CommandsInBatchActOnDifferentPartitions for two partitions.
    template <class E = only>
    [[nodiscard]] result<transacted> rekey(E const& from, E const& to) const {
        if constexpr (allows<E>()) {
            return detail::rekey_row(core_, to_row(from), to_row(to));
        } else {
            return detail::reported();
        }
    }

    /// Starts a batch: several changes of entities of any of the types, in one partition, all or nothing.
    [[nodiscard]] auto batch() const {
        return detail::batch_of(core_, typename detail::batched_types<entities, First, Second, More...>::type{});
    }

    // ---- maintenance of indexes and sums ----

    /// Compares all indexes and sums with the entities: counts index rows that are missing, dangling or different, keys
    /// that two entities have, and wrong sums. Skips retired indexes and sums. Writers may be active. Cost: a scan of
    /// all tables, and two more for each 65,536 rows if some of them differ; memory for 4,096 sums per index, and for
    /// these rows. Each sum needs one more scan of its rows and entities, and memory for the sums of a partition.
    /// Errors: NotSupported if there are sums and the service does not list partitions.
    [[nodiscard]] result<table_verification>(verify)(std::size_t max_samples = 10) const {
        return detail::verify_companions(base::family(), max_samples);
    }
    /// Compares the sums of one partition: `verify<daily_sales>("ACME")`. If a sum changes in the meantime, it starts over. Errors:
    /// UpdateConditionNotSatisfied if a sum changed in every attempt. Cost: reads all sums and entities of the partition.
    template <class Sums, class... Keys>
    [[nodiscard]] result<table_verification>(verify)(Keys const&... partition) const {
        return audit<Sums>(false, partition...);
    }
    /// Does the same, then rewrites wrong sums and returns them. Needed after writers that bypassed the table. May be called again after an
    /// interruption. Cost: one more request for each wrong row.
    template <class Sums, class... Keys>
    [[nodiscard]] result<table_verification> rebuild(Keys const&... partition) const {
        return audit<Sums>(true, partition...);
    }
    /// Completes writes that did not end, writes missing index rows and removes dangling rows. Never changes an entity or a sum: two
    /// entities with the same key of a unique index remain, see `violations`. Any program may call it at any time.
    [[nodiscard]] result<index_repair> repair() const { return detail::repair_indexes(base::family()); }
    /// Only completes interrupted writes. An active writer starts over. Cost: a scan of the table.
    [[nodiscard]] result<index_repair> apply_pending() const {
        result<index_repair> done{std::in_place};
        done.fail_if(detail::apply_intents(base::family(), *done));
        return done;
    }
    /// Returns the keys in unique indexes that more than one entity of a type has, because a writer bypassed the index. Cost: that of
    /// `verify`.
    template <class E = only>
    [[nodiscard]] result<std::vector<index_violation<E>>> violations() const {
        ENTITABLE_TRY(auto const found, detail::violations_of_indexes(base::family()));
        result<std::vector<index_violation<E>>> made{std::in_place};
        for (detail::found_violation const& each : found) {
            if (base::family().shapes[*base::family().find(each.index)].of != &detail::pattern_of_type<E>) { continue; }
            made->push_back({each.index, each.key, {}});
            for (row_keys const& one : each.entities) {
                made->back().entities.push_back({one.partition_key, one.row_key});
            }
        }
        return made;
    }
    /// Settles a violation: `keep`, which must be one of its entities, gets the key, and **the others are removed**, with their index rows
    /// and from sums, if they still have that key. To retain them, give them a different key instead, with `update`. Returns how many were
    /// removed. May be called again after an interruption. Errors: InvalidInput if `keep` is not one of the entities.
    template <class E = only>
    [[nodiscard]] result<std::uint64_t> resolve_violation(
        index_violation<E> const& which, reference<E> const& keep) const {
        detail::found_violation found{which.index, which.key, {}};
        for (reference<E> const& each : which.entities) {
            found.entities.push_back({each.partition_key, each.row_key});
        }
        return detail::resolve_violation(base::family(), found, {keep.partition_key, keep.row_key});
    }
    /// Makes an index or sums of a table with entities ready: writes the rows of all of them, while other programs with this list write.
    /// First it waits until no program relies on a different declaration (`table_options::lease` and `longest_request`, two and a half
    /// minutes), except in a table without a declaration, which refuses writes. It continues an interrupted build. Rows of an index or of
    /// sums that are ready are compared and repaired, and remain ready. Cost of an index: one request for each 100 rows, three scans of the
    /// entities and two of the index; memory for 50,000 rows. Cost of sums: a scan, and one request for each row of sums.
    template <class Companion>
    [[nodiscard]] result<index_repair> build() const {
        return detail::build_index(base::family(), base::template position_of<Companion>());
    }
    /// Makes all indexes and sums ready that are not ready, including retired indexes, with a single wait.
    [[nodiscard]] result<index_repair> build() const {
        if constexpr (base::is_maintained) { return detail::build_missing(base::family()); }
        return index_repair{};
    }
    /// Makes all indexes and sums ready in a table that other programs have written until now, with or without these rows: declares them,
    /// waits as `build` does, corrects their rows, and retains correct rows. Once they are declared, programs with this list write and
    /// maintain them; a program that does not maintain them must have ended before. Does nothing if all are ready. May be called again
    /// after an interruption, by any program. Cost: that of `build`; retained sums are read but not written.
    [[nodiscard]] result<index_repair> adopt() const {
        if constexpr (base::is_maintained) { return detail::adopt_indexed(base::family()); }
        return index_repair{};
    }
    /// Retires an index or sums: waits until no reader uses them (`table_options::lease` and `longest_request`); then
    /// no writer maintains them. May be called again after an interruption.
    template <class Companion>
    [[nodiscard]] result<void> retire() const {
        return retire(base::family().shapes[base::template position_of<Companion>()].name);
    }
    /// Retires an index or sums by the name of the type, for a program that no longer declares it. Errors: ResourceNotFound if the table
    /// does not have it.
    [[nodiscard]] result<void> retire(std::string_view companion) const {
        return detail::retire_index(base::family(), companion);
    }
    /// Reads the stored state of an index or of sums.
    template <class Companion>
    [[nodiscard]] result<index_state> state() const {
        call context{base::family().main.options(), *base::family().options.time};
        ENTITABLE_TRY(
            auto const stored, base::family().stored_state_of(base::template position_of<Companion>(), context));
        return stored.state;
    }

protected:
    using base::core_;

private:
    template <class Sums, class... Keys>
    [[nodiscard]] result<table_verification> audit(bool mend, Keys const&... partition) const {
        if constexpr (detail::allow_sums<base::template is_sum<Sums>, Sums, Keys...>()) {
            return detail::audit_sums_in(base::family(), base::template position_of<Sums>(),
                detail::partition_of_type<Sums>(typename mapping<Sums>::partition_components{}, partition...), mend);
        } else {
            return detail::reported();
        }
    }
    template <class E>
    static consteval void refuse_merge() {
        static_assert(!base::template is_wide<E>,
            "a wide entity is written as a whole: replace(...), insert_or_replace(...) or update(...)");
    }
    template <class E>
    [[nodiscard]] result<written_of<E>> write(mutation_kind kind, E const& entity, etag_condition condition) const {
        if constexpr (base::template is_wide<E>) {
            return base::template rows<E>().write(kind, entity, condition);
        } else if constexpr (allows<E>()) {
            return core_.write(kind, &entity, detail::kind_of_entity<E>, condition);
        } else {
            return detail::reported();
        }
    }
};

ENTITABLE_END_NAMESPACE

#endif
