// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `transaction<table<A, B, ...>>`: a transaction that also reads the indexes and sums of its table.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/listed_types.hpp>
#include <entitable/client/transaction.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE

template <class... Types>
class table;

namespace detail {

template <class Entities>
struct transaction_over;
template <class First, class... More>
struct transaction_over<type_list<First, More...>> {
    using type = transaction<First, More...>;
    using first = First;
};

} // namespace detail

/// The transaction of a table of several types: reads and writes its entities, and reads the index rows and sums of the partition. A body
/// takes it as `transaction<books_table>&` or `auto&`.
///
/// Rows of companions are guarded like all rows that a body finds: if one has changed at the end, the body starts over. A row of sums that
/// the body reads, and that its own changes affect, counts as one operation. Reads return the stored rows: changes of the body affect them
/// only at its end. Errors: IndexNotReady.
template <class First, class Second, class... More>
class transaction<table<First, Second, More...>>
    : public detail::transaction_over<detail::entities_of<First, Second, More...>>::type {
    using over = detail::transaction_over<detail::entities_of<First, Second, More...>>;
    using base = typename over::type;
    using indexes = typename detail::types_of<First, Second, More...>::indexes;
    using sums = typename detail::types_of<First, Second, More...>::sums;

public:
    using base::base;

    /// See `transaction::get`: `get<daily_sales>("2026-11-23")` reads a row of sums.
    template <mapped_entity E = typename over::first, class... Keys>
    [[nodiscard]] result<E> get(Keys const&... row) const {
        if constexpr (is_companion<E>()) {
            ENTITABLE_CHECK(check_ready<E>());
            return detail::rows_of<E>{this->scope_}.get(row...);
        } else {
            return base::template get<E>(row...);
        }
    }
    /// See `transaction::find`.
    template <mapped_entity E = typename over::first, class... Keys>
    [[nodiscard]] result<std::optional<E>> find(Keys const&... row) const {
        if constexpr (is_companion<E>()) {
            ENTITABLE_CHECK(check_ready<E>());
            return detail::rows_of<E>{this->scope_}.find(row...);
        } else {
            return base::template find<E>(row...);
        }
    }
    /// See `transaction::where`. The fields belong to an entity, an index or sums.
    template <mapped_entity E, shape_set Shapes, shape_set Negated>
    [[nodiscard]] result<std::vector<E>> where(predicate<E, Shapes, Negated> const& condition) const {
        if constexpr (is_companion<E>()) {
            ENTITABLE_CHECK(check_ready<E>());
            return this->template matching<E>(condition.nodes(), true);
        } else {
            return base::where(condition);
        }
    }

private:
    template <class E>
    static consteval bool is_companion() {
        constexpr bool index = detail::is_in_list<E, indexes>;
        if constexpr (index) {
            constexpr bool here =
                !detail::index_declaration<typename detail::declaration_in_list<E, indexes>::type>::is_elsewhere;
            static_assert(here,
                "this index is not in the partition of the transaction: read it before the transaction, with "
                "by<by_day>().where(...)");
        }
        return index || detail::is_in_list<E, sums>;
    }
    template <class E>
    [[nodiscard]] result<void> check_ready() const {
        constexpr std::size_t position = detail::is_in_list<E, indexes>
            ? detail::position_in_list<E, indexes>
            : indexes::size + detail::position_in_list<E, sums>;
        auto ready = this->core_->writer()->check_ready(position, this->scope_.context());
        if (!ready) { this->scope_.rows.refuse(failure{ready.error()}); }
        return ready;
    }
};

ENTITABLE_END_NAMESPACE

#endif
