// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `batch<E>`: an entity group transaction. All its changes are applied, or no change is.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/codec.hpp>
#include <entitable/client/partial_merge.hpp>
#include <entitable/client/table_core.hpp>
#include <entitable/core/clock.hpp>

ENTITABLE_BEGIN_NAMESPACE

namespace detail {

struct system_changes;

class own_submission; // declared in `client/detail/table_operations.hpp`

/// The changes of a batch, and the first entity that could not be converted to a row.
class change_list {
public:
    ENTITABLE_LAZY void add(
        mutation_kind kind, result<row> entity, etag_condition condition, entitable::removal sums = {});
    /// Adds a merge that removes the properties without a value.
    ENTITABLE_LAZY void add_removing(result<row> entity, etag_condition condition);
    [[nodiscard]] std::size_t size() const noexcept { return request_.changes.size(); }
    ENTITABLE_LAZY void clear() noexcept;
    /// Partition key of the first change; empty if there is none.
    [[nodiscard]] std::string_view partition_key() const noexcept {
        return request_.changes.empty() ? std::string_view{} : request_.changes.front().entity.partition_key();
    }
    ENTITABLE_LAZY [[nodiscard]] result<std::vector<written>> submit(
        table_core const& table, clock& time = system_clock()) const;
    /// Submits and returns the outcome of the only change.
    ENTITABLE_LAZY [[nodiscard]] result<written> submit_one(
        table_core const& table, clock& time = system_clock()) const;
    /// Makes the submission as an operation that owns the changes. Errors: NotSupported if a merge removes properties, which takes more
    /// than one request.
    ENTITABLE_LAZY [[nodiscard]] own_submission to_submit(table_core const& table) &&;

private:
    mutable transact request_;          ///< sent unchanged; the table is set when it is sent
    std::vector<std::size_t> removing_; ///< the indexes of merges that remove properties, in order
    result<void> problem_;
};

} // namespace detail

/// Up to 100 changes to different entities in one partition, with a total size of at most
/// `profile::max_transaction_size`; checked on submission. One entity type, or the types of a `table<A, B, ...>`. A
/// value: nothing is sent before `submit()`, and a batch can be submitted again. Thread safety: one thread at a time.
template <detail::entity_or_wide First, detail::entity_or_wide... More>
class batch {
public:
    explicit batch(detail::table_core table) : table_(std::move(table)) {} ///< made by `table::batch`

    /// Adds an insert: EntityAlreadyExists if the entity exists.
    template <mapped_entity E = First>
    batch& insert(E const& entity) {
        return add(mutation_kind::insert, entity, any_etag);
    }
    /// Adds a replacement of the stored entity, which must satisfy the condition.
    template <mapped_entity E = First>
    batch& replace(E const& entity, etag_condition condition) {
        return add(mutation_kind::replace, entity, std::move(condition));
    }
    /// Adds a merge with the stored entity, which must satisfy the condition: see `table::merge`.
    template <mapped_entity E = First>
    batch& merge(E const& entity, etag_condition condition) {
        if constexpr (detail::replaced_by_merge<E>) {
            check_type<E>();
            changes_.add_removing(detail::row_without_former_names(entity), std::move(condition));
            return *this;
        } else {
            return add(mutation_kind::merge, entity, std::move(condition));
        }
    }
    /// Adds a merge of the given members: see `table::merge`. Cost: if a member is `absent`, or is declared with `formerly(...)`, `submit` first reads each such entity in a
    /// separate request and replaces it under its ETag; it starts over if another writer changed the entity first, up
    /// to 50 times.
    template <class... Values, class... ChangesAndCondition>
    batch& merge(keys_at<Values...> const& keys, ChangesAndCondition&&... changes_and_condition) {
        using E = detail::entity_of_changes<First, std::remove_cvref_t<ChangesAndCondition>...>;
        check_type<E>();
        auto made = detail::partial_merge<E>(keys, changes_and_condition...);
        if constexpr (detail::removes_members<ChangesAndCondition...>) {
            changes_.add_removing(std::move(made.entity), std::move(made.condition));
        } else {
            changes_.add(mutation_kind::merge, std::move(made.entity), std::move(made.condition));
        }
        return *this;
    }
    /// Adds an insert or replacement.
    template <mapped_entity E = First>
    batch& insert_or_replace(E const& entity) {
        return add(mutation_kind::insert_or_replace, entity, any_etag);
    }
    /// The same as `insert_or_replace`.
    template <mapped_entity E = First>
    batch& upsert(E const& entity) {
        return insert_or_replace(entity);
    }
    /// Adds an insert or merge.
    template <mapped_entity E = First>
    batch& insert_or_merge(E const& entity) {
        detail::refuse_merge_beside_former_names<typename mapping<E>::properties>();
        return add(mutation_kind::insert_or_merge, entity, any_etag);
    }
    /// Adds the removal of an entity; only its keys are used. `removal::archived`: see `table<A, B, ...>::remove`.
    template <mapped_entity E = First>
    batch& remove(E const& entity, etag_condition condition, removal how = {}) {
        return add(mutation_kind::remove, entity, std::move(condition), how);
    }
    /// Adds the removal of the entity with these keys: `remove(at("ann", 7), any_etag)`; with several types
    /// `remove<order>(at("ann", 7), any_etag)`.
    template <mapped_entity E = First, class... Values>
    batch& remove(keys_at<Values...> const& keys, etag_condition condition, removal how = {}) {
        check_type<E>();
        changes_.add(mutation_kind::remove, detail::row_at<E>(keys), std::move(condition), how);
        return *this;
    }

    /// Does not compile: a batch reads nothing.
    template <class... Given>
    batch& update(Given const&...) {
        static_assert(sizeof...(Given) > 1000,
            "a batch reads nothing, so it has no update: replace(...) or merge(...), or transact(...), which reads and "
            "changes");
        return *this;
    }

    [[nodiscard]] std::size_t size() const noexcept { return changes_.size(); } ///< number of changes
    [[nodiscard]] bool empty() const noexcept { return changes_.size() == 0; }  ///< whether there are no changes
    void clear() noexcept { changes_.clear(); }                                 ///< drops all changes

    /// Sends the changes; returns the outcome of each, in order. After an error nothing was applied, unless its effect is unknown;
    /// `error::operation_index` is the refused change, if known. Errors: InvalidInput for no changes and for more than 100; those of a
    /// table's writes; CommandsInBatchActOnDifferentPartitions, InvalidDuplicateRow, RequestBodyTooLarge.
    [[nodiscard]] result<std::vector<written>> submit() const { return changes_.submit(table_); }

    /// Moves the changes out, for code that submits them without blocking.
    [[nodiscard]] detail::change_list changes() && { return std::move(changes_); }

private:
    friend struct detail::system_changes;

    template <class E>
    static consteval void check_type() {
        constexpr bool is_wide = std::same_as<wide<E>, First> || (std::same_as<wide<E>, More> || ...);
        if constexpr (is_wide) { detail::refuse_wide<E>(); }
        static_assert(is_wide || std::same_as<E, First> || (std::same_as<E, More> || ...),
            "this entity type does not belong to the table");
    }
    template <class E>
    batch& add(mutation_kind kind, E const& entity, etag_condition condition, removal how = {}) {
        check_type<E>();
        changes_.add(kind, to_row(entity), std::move(condition), how);
        return *this;
    }

    detail::table_core table_;
    detail::change_list changes_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/batch.ipp>
#endif

#endif
