// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Read, change, write back: the update of one entity under optimistic concurrency, as one resumable operation.

#include <entitable/client/contention.hpp>
#include <entitable/client/table_core.hpp>
#include <entitable/request/call.hpp>
#include <entitable/request/requests.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of an update.
struct update_options {
    std::uint32_t max_attempts{50};     ///< when other writers are faster, the first one included; 0 counts as 1
    backoff delays{contention_backoff}; ///< the waits between attempts
    clock* time{&system_clock()};       ///< for the waits; must outlive the update
    std::uint64_t seed{};               ///< of the waits; 0 for one from the clock
};

/// An entity that was updated.
template <class Entity>
struct updated {
    Entity entity{};      ///< as it was written; members filled by etag(...) and timestamp(...) are as they were read
    entitable::etag etag; ///< of the new version, or of the one that was read when nothing was written
    std::uint32_t attempts{}; ///< how often it was read, from 1
    bool changed{};           ///< whether it was written
    bool after_retry{};       ///< see `written`
};

namespace detail {

/// `stored` with the properties of `change` in place of its own; one that is absent in `change` is removed. Properties that `change`
/// does not name stay.
ENTITABLE_LAZY [[nodiscard]] row changed_row(row_view stored, row_view change);

/// What became of an update.
struct update_outcome {
    entitable::etag etag;
    std::uint32_t attempts{};
    bool changed{};
    bool after_retry{};
};

/// A change of an entity, of a type that only it and `kind` know: whether the entity is to be written.
struct entity_change {
    bool (*call)(void* change, void* entity);
    void* change;
};
/// Updates one entity of a table, which is left in `entity`.
ENTITABLE_LAZY [[nodiscard]] result<update_outcome> update_entity(table_core const& table, entity_kind const& kind,
    key_source const* partition, key_source const* row, void* entity, entity_change change, bool forced,
    update_options const& options);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/update.ipp>
#endif
