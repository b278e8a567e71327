// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Read, change, write back: the update of one entity under optimistic concurrency, as one resumable operation.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/table_core.hpp>
#include <entitable/client/update_options.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns `stored` with its declared properties replaced by those of `change`; a property that is absent in `change` is removed.
/// Properties that `change` does not name are retained.
ENTITABLE_LAZY [[nodiscard]] row changed_row(row_view stored, row_view change);
/// Does the same with a change that has the keys of `stored`.
ENTITABLE_LAZY [[nodiscard]] row changed_row(row_view stored, row&& change);

/// A change of an entity, whose type is known only to the change and to `kind`; returns whether to write the entity.
struct entity_change {
    bool (*call)(void* change, void* entity);
    void* change;
};
/// Updates one entity of a table and stores it in `to`.
ENTITABLE_LAZY [[nodiscard]] result<void> update_entity(table_core const& table, entity_kind const& kind,
    key_source const* partition, key_source const* row, updated_parts const& to, entity_change change, bool forced,
    update_options const& options);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/update.ipp>
#endif

#endif
