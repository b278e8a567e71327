// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Names of tables before there were lists of types; using one reports the new name. Retained for one version.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Does not compile.
template <class... Types>
class tables {
    static_assert(
        sizeof...(Types) > 1000, "tables<A, B> is now table<A, B>; its of<A>() is not needed: get<A>(...), where(...)");

public:
    template <class... Given>
    explicit tables(Given&&...) {} ///< does not compile
};
/// Does not compile.
template <class Entity, class... Indexes>
class indexed_table {
    static_assert(sizeof(Entity) == 0,
        "indexed_table<E, I> is now table<E, I>; its entities() is the table itself; include <entitable/tables.hpp>");

public:
    template <class... Given>
    indexed_table(Given&&...) {} ///< does not compile
};
/// Does not compile.
template <class Entity, class Sums>
class aggregated_table {
    static_assert(sizeof(Entity) == 0,
        "aggregated_table<E, S> is now table<E, S>, with sum(place) and get<S>(...); a table with rows needs "
        "adopt() once; include <entitable/tables.hpp>");

public:
    template <class... Given>
    aggregated_table(Given&&...) {} ///< does not compile
};

ENTITABLE_END_NAMESPACE

#endif
