// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `transaction<E...>`: reads and changes one partition in a body of `transact`, all or nothing.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/detail/change.hpp>
#include <entitable/client/detail/transaction_scope.hpp>
#include <entitable/client/mapping/codec.hpp>
#include <entitable/client/mapping/component.hpp>
#include <entitable/client/mapping/detail/key_from.hpp>
#include <entitable/client/mapping/mapping.hpp>
#include <entitable/client/query/predicate.hpp>
#include <entitable/client/update.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

struct system_changes;

/// The operations whose parameters are the components of an entity's row key; the scope has the partition.
template <class Entity, class RowComponents>
class scoped_rows;

template <class Entity, class... R>
class scoped_rows<Entity, components<void, R...>> {
public:
    explicit scoped_rows(transaction_scope& scope) noexcept : scope_(scope) {}

    [[nodiscard]] result<std::optional<Entity>> find(key_argument<typename R::value_type>... row) const {
        ENTITABLE_TRY(auto stored, scope_.find(row_key(row...)));
        result<std::optional<Entity>> entity{std::in_place};
        if (stored) {
            if (auto decoded = from_row(*stored, entity->emplace(), scope_.reading()); !decoded) {
                scope_.rows.refuse(failure{decoded.error()});
                entity = std::move(decoded).as_failure();
            }
        }
        return entity;
    }
    [[nodiscard]] result<Entity> get(key_argument<typename R::value_type>... row) const {
        auto found = find(row...);
        if (!found) { return std::move(found).as_failure(); }
        if (!*found) { return absent(); }
        return **std::move(found);
    }
    void(require)(key_argument<typename R::value_type>... row) const {
        if (auto key = row_key(row...)) {
            scope_.rows.require_row(*std::move(key));
        } else {
            scope_.rows.refuse(std::move(key).as_failure());
        }
    }
    template <class Change>
    [[nodiscard]] result<Entity> update(key_argument<typename R::value_type>... row, Change&& change) const {
        auto stored = scope_.find(row_key(row...));
        if (!stored) { return std::move(stored).as_failure(); }
        if (!*stored) { return absent(); }
        row_view before = **stored;
        result<Entity> entity{std::in_place};
        if (auto decoded = from_row(before, *entity, scope_.reading()); !decoded) {
            scope_.rows.refuse(failure{decoded.error()});
            return std::move(decoded).as_failure();
        }
        std::size_t const looks = scope_.rows.looks();
        if (apply_change(change, *entity)) {
            // If the change itself has used the transaction, the view may be outdated.
            if (scope_.rows.looks() != looks) {
                stored = scope_.find(row_key(row...));
                if (!stored || !*stored) {
                    failure gone{error_code::invalid_input, "an update must not remove its entity"};
                    scope_.rows.refuse(failure{gone.error()});
                    return gone;
                }
                before = **stored;
            }
            auto made = to_row(*entity);
            if (made && (made->partition_key() != before.partition_key || made->row_key() != before.row_key)) {
                made = failure{error_code::invalid_input, "an update must not change the keys of an entity"};
            }
            if (made) { made = changed_row(before, *std::move(made)); }
            scope_.change(mutation_kind::replace, std::move(made), false);
        }
        return entity;
    }

private:
    [[nodiscard]] static failure absent() {
        return failure{error_code::resource_not_found,
            std::string{"the partition of the transaction has no "}
                .append(mapping<Entity>::entity_name)
                .append(" with this key")};
    }
    [[nodiscard]] static result<std::string> row_key(key_argument<typename R::value_type> const&... values) {
        return checked_row_key(key_from<R...>(mapping<Entity>::row_layout, values...));
    }

    transaction_scope& scope_;
};

template <class Entity>
using rows_of = scoped_rows<Entity, typename mapping<Entity>::row_components>;

/// Whether a type is declared like an index or sums of an entity.
template <class Type, class Entity>
inline constexpr bool looks_like_companion =
    std::is_base_of_v<Entity, Type> || requires(Entity const& one) { Type::key(one); };

} // namespace detail

/// The reads and changes of a body of `table::transact`. Valid during the attempt. Thread safety: one thread at a time.
///
/// Reads are sent at once, and a row is read once. Changes are collected and written together at the end of the body: several changes of
/// one row become one change; an insert followed by a removal becomes no change, so the row is not read. A read returns the entity with the
/// body's own changes, without an ETag or a Timestamp; a query does not include them, so it must precede them.
///
/// Every row that was found is guarded, even if it was changed before it was read: a row that is only read is merged with nothing under its
/// ETag, which counts as one of the operations, gives it a new ETag, and makes other transactions that read it start over. `require` has
/// the same effect on other transactions, but their changes to its row do not make this body start over.
///
/// Errors: `transact` returns the error of an invalid change, and the error of a read, even if the body ignores it.
template <class First, class... More>
class transaction {
    template <class E>
    static constexpr bool is_one = std::same_as<E, First> || (std::same_as<E, More> || ...);
    template <class E>
    static constexpr bool is_companion =
        !is_one<E> && (detail::looks_like_companion<E, First> || (detail::looks_like_companion<E, More> || ...));

public:
    /// Made by `transact`.
    explicit transaction(detail::transaction_scope& scope, detail::table_core const* core = nullptr) noexcept
        : scope_(scope), core_(core) {}
    transaction(transaction const&) = delete;
    transaction& operator=(transaction const&) = delete;

    // ---- reads ----

    /// Reads the entity with these components of the row key; ResourceNotFound if it does not exist. With several types: `get<invoice>(7)`.
    template <mapped_entity E = First, class... Keys>
    [[nodiscard]] result<E> get(Keys const&... row) const {
        return rows<E>().get(row...);
    }
    /// Does the same; nullopt if it does not exist.
    template <mapped_entity E = First, class... Keys>
    [[nodiscard]] result<std::optional<E>> find(Keys const&... row) const {
        return rows<E>().find(row...);
    }
    /// Returns the entities that satisfy the predicate, which need not name the partition: one request. Errors: QueryTooComplex if they do
    /// not fit on one page and the body is not exclusive.
    template <mapped_entity E, shape_set Shapes, shape_set Negated>
    [[nodiscard]] result<std::vector<E>> where(predicate<E, Shapes, Negated> const& condition) const {
        static_cast<void>(allows<E>());
        bool const several = core_ != nullptr && (core_->writer() != nullptr || core_->type() != nullptr);
        return matching<E>(condition.nodes(), sizeof...(More) > 0 || several);
    }
    /// Serializes all bodies that call it first: two of them in one partition are applied only if one starts after the other has ended. So
    /// a row that was absent when the body read it is absent when it writes. A writer without a transaction, or with a
    /// transaction that is not exclusive, is excluded only if it announces itself (`transaction_options::announces`).
    /// Cost: one read and one operation.
    [[nodiscard]] result<void> exclusive() const { return scope_.exclusive(); }

    // ---- changes ----

    /// Inserts a new entity: EntityAlreadyExists if it exists; if the body has read the key and found nothing, the body starts over
    /// instead.
    template <mapped_entity E = First>
    transaction& insert(E const& entity) {
        return add(mutation_kind::insert, entity, false);
    }
    /// Replaces all properties of an entity that this body has read.
    template <mapped_entity E = First>
    transaction& replace(E const& entity) {
        return add(mutation_kind::replace, entity, false);
    }
    /// Replaces all properties of an entity that must exist, with this version or any version. The version refers to
    /// the stored entity: if it has a different version, `transact` returns UpdateConditionNotSatisfied, and the body
    /// does not start over.
    template <mapped_entity E = First>
    transaction& replace(E const& entity, etag_condition condition) {
        return add(mutation_kind::replace, entity, true, std::move(condition));
    }
    /// Merges into an entity that this body has read.
    template <mapped_entity E = First>
    transaction& merge(E const& entity) {
        detail::refuse_merge_beside_former_names<typename mapping<E>::properties>();
        return add(mutation_kind::merge, entity, false);
    }
    /// Merges with an entity that must exist, with this version or any version: see `replace`.
    template <mapped_entity E = First>
    transaction& merge(E const& entity, etag_condition condition) {
        detail::refuse_merge_beside_former_names<typename mapping<E>::properties>();
        return add(mutation_kind::merge, entity, true, std::move(condition));
    }
    /// Inserts an entity, or replaces the stored entity.
    template <mapped_entity E = First>
    transaction& insert_or_replace(E const& entity) {
        return add(mutation_kind::insert_or_replace, entity, true);
    }
    /// The same as `insert_or_replace`.
    template <mapped_entity E = First>
    transaction& upsert(E const& entity) {
        return insert_or_replace(entity);
    }
    /// Inserts an entity, or merges into the stored entity.
    template <mapped_entity E = First>
    transaction& insert_or_merge(E const& entity) {
        detail::refuse_merge_beside_former_names<typename mapping<E>::properties>();
        return add(mutation_kind::insert_or_merge, entity, true);
    }
    /// Removes an entity that this body has read. Only the keys are used. `removal::archived`: see `table<A, B, ...>::remove`.
    template <mapped_entity E = First>
    transaction& remove(E const& entity, removal how = {}) {
        return add(mutation_kind::remove, entity, false, any_etag, how);
    }
    /// Removes an entity that must exist, with this version or any version: see `replace`. Only the keys are used.
    template <mapped_entity E = First>
    transaction& remove(E const& entity, etag_condition condition, removal how = {}) {
        return add(mutation_kind::remove, entity, true, std::move(condition), how);
    }
    /// Reads an entity, calls `change(entity)`, and replaces it: `update<account>(7, [](account& a) { ... })`. Returns the changed entity;
    /// ResourceNotFound if it does not exist. Properties that the type does not declare are retained. A change that returns false leaves
    /// the stored entity unchanged.
    template <mapped_entity E = First, class... KeysAndChange>
    [[nodiscard]] result<E> update(KeysAndChange&&... row_and_change) const {
        return rows<E>().update(std::forward<KeysAndChange>(row_and_change)...);
    }
    /// Requires the entity with these components of the row key to exist at the end, whatever this body does with it; otherwise
    /// ResourceNotFound. Other writers may change the row before the commit.
    template <mapped_entity E = First, class... Keys>
    transaction&(require)(Keys const&... row) {
        (rows<E>().require)(row...);
        return *this;
    }

protected:
    /// Returns the entities that satisfy a condition; `several`: whether other rows of the partition can be of other
    /// types.
    template <class E>
    [[nodiscard]] result<std::vector<E>> matching(predicate_nodes const& condition, bool several) const {
        result<std::vector<E>> all{std::in_place};
        detail::type_pattern const* const type = several ? &detail::pattern_of_type<E> : nullptr;
        auto read = scope_.for_each(condition, mapping<E>::partition_layout, mapping<E>::row_layout, type,
            [&](row_view found) { return from_row(found, all->emplace_back(), scope_.reading()); });
        if (!read) { return std::move(read).as_failure(); }
        return all;
    }

    detail::transaction_scope& scope_; ///< the requests of this transaction
    detail::table_core const* core_;   ///< null, or the table

private:
    friend struct detail::system_changes;

    /// Reports in one line why a body cannot read or write a type.
    template <class E>
    static consteval bool allows() {
        static_assert(is_one<E> || is_companion<E>, "this entity type does not belong to the transaction");
        static_assert(!is_companion<E>,
            "the table maintains this type: it can be read but not written; a body that reads it takes "
            "transaction<books_table>&, or auto&");
        return true;
    }
    template <class E>
    [[nodiscard]] detail::rows_of<E> rows() const {
        static_cast<void>(allows<E>());
        return detail::rows_of<E>{scope_};
    }
    template <class E>
    transaction& add(
        mutation_kind kind, E const& entity, bool forced, etag_condition expected = any_etag, removal how = {}) {
        static_cast<void>(allows<E>());
        scope_.change(kind, to_row(entity), forced, expected, how);
        return *this;
    }
};

namespace detail {

/// Runs a typed body.
template <class... Types, class Body>
[[nodiscard]] result<transacted> transact_entities(
    table_core const& core, result<std::string> partition_key, Body& body, transaction_options const& options) {
    constexpr bool takes_it = std::is_invocable_v<Body&, transaction<Types...>&>;
    static_assert(
        takes_it, "the body of a transaction must take an entitable::transaction of the table's entities by reference");
    if constexpr (takes_it) {
        constexpr bool tells = std::same_as<std::invoke_result_t<Body&, transaction<Types...>&>, result<void>>;
        static_assert(
            tells, "the body of a transaction must return entitable::result<void>: with an error nothing is written");
        if constexpr (tells) {
            auto const typed = [&](transaction_scope& scope) {
                transaction<Types...> all{scope, &core};
                return body(all);
            };
            return run_transaction(core, std::move(partition_key), options, typed);
        }
    }
    return failure{error_code::invalid_input, {}}; // the reason was reported
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
