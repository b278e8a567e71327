// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The rows of a typed table, for functions that synchronise them without their types.

#include <entitable/client/table.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reaches the part of a table of several types that its derived classes see.
template <class... Types>
struct synced_table : reader<Types...> {
    [[nodiscard]] static table_core const& core(reader<Types...> const& of) { return of.*(&synced_table::core_); }
};
/// Does the same for a table of one type.
template <class Entity>
struct synced_table<Entity> : keyed_operations<Entity, typename mapping<Entity>::partition_components,
                                  typename mapping<Entity>::row_components> {
    using base = typename synced_table::keyed_operations;
    [[nodiscard]] static table_core const& core(base const& of) { return of.*(&synced_table::core_); }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
