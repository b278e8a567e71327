// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `system_changes`: rows of the library among the changes of a program.

#include <entitable/client/batch.hpp>
#include <entitable/client/transaction.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Adds rows of the library to the changes of a program.
struct system_changes {
    template <class... E>
    static std::string partition_of(batch<E...> const& changes) {
        return std::string{changes.changes_.partition_key()};
    }
    template <class... E>
    static std::string partition_of(transaction<E...> const& changes) {
        return changes.scope_.rows.partition_key();
    }
    template <class... E>
    static void add(batch<E...>& changes, result<row> made) {
        changes.changes_.add(mutation_kind::insert, std::move(made), any_etag);
    }
    template <class... E>
    static void add(transaction<E...>& changes, result<row> made) {
        changes.scope_.change(mutation_kind::insert, std::move(made), false);
    }
    template <class... E>
    static transaction_scope& scope_of(transaction<E...>& changes) noexcept {
        return changes.scope_;
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
