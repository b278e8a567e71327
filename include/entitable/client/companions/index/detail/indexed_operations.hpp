// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The operations of `indexed_table<E, ...>` whose parameters are the components of its entity's keys.

#include <entitable/client/companions/index/detail/index_run.hpp>
#include <entitable/client/detail/keyed_operations.hpp>
#include <entitable/client/transaction.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The operations whose parameters are the key components of the entity.
template <class Entity, class PartitionComponents, class RowComponents>
class indexed_operations;

template <class Entity, class... P, class... R>
class indexed_operations<Entity, components<void, P...>, components<void, R...>>
    : protected keyed_operations<Entity, components<void, P...>, components<void, R...>> {
    using base = keyed_operations<Entity, components<void, P...>, components<void, R...>>;

public:
    using base::find;
    using base::get;
    using base::get_stored;

    /// Removes the entity with these keys and its index rows, if it has the given version: ResourceNotFound if it does not exist,
    /// UpdateConditionNotSatisfied if it was changed since.
    [[nodiscard]] result<indexed> remove(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, etag_condition condition) const {
        ENTITABLE_TRY(auto made, removal(base::partition_key(partition...), base::row_key(row...), condition));
        return write(mutation_kind::remove, std::move(made.entity), condition);
    }

    /// Reads the entity, calls `change(entity)`, and writes it and its index rows, unless another writer has changed it since; then it
    /// starts over. Like `table::update`.
    template <class Change>
    [[nodiscard]] result<indexed> update(key_argument<typename P::value_type>... partition,
        key_argument<typename R::value_type>... row, Change&& change) const {
        auto const body = [&](transaction_scope& all) -> result<void> {
            ENTITABLE_CHECK(scoped_rows<Entity, components<void, R...>>{all}.update(row..., change));
            return {};
        };
        return write_indexed(family(), base::partition_key(partition...), transaction_with(family().options), body);
    }

    /// Like `table::transact`; changes the index rows of the entities that the body changes.
    template <class Body>
    [[nodiscard]] result<indexed> transact(key_argument<typename P::value_type>... partition, Body&& body) const {
        auto const typed = [&](transaction_scope& scope) -> result<void> {
            transaction<Entity> all{scope};
            return body(all);
        };
        constexpr bool takes_it = std::is_invocable_r_v<result<void>, Body&, transaction<Entity>&>;
        static_assert(takes_it,
            "the body of a transaction must take an entitable::transaction of the table's entity by reference, and "
            "return entitable::result<void>");
        return write_indexed(family(), base::partition_key(partition...), transaction_with(family().options), typed);
    }

protected:
    explicit indexed_operations(shared<index_family> family) : base(family->main), family_(std::move(family)) {}

    /// Makes one change of one entity, under its version if the condition has one.
    [[nodiscard]] result<indexed> write(mutation_kind kind, result<row> entity, etag_condition const& condition) const {
        if (!entity) { return std::move(entity).as_failure(); }
        auto const body = [&](transaction_scope& all) -> result<void> {
            ENTITABLE_CHECK(check_entity_version(all, entity->row_key(), condition));
            all.change(kind, *entity, true);
            return {};
        };
        return write_indexed(family(), std::string{entity->partition_key()}, transaction_with(family().options), body);
    }

    /// The tables; after a move, tables that return InvalidInput.
    [[nodiscard]] index_family& family() const { return *family_or_absent<0>(family_); }

    shared<index_family> family_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
