// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `entities_of_rows`: reads the entities of some index rows by their keys, several concurrently.

#include <entitable/client/companions/index/detail/index_family.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The entity of an index row.
struct named_entity {
    row_keys entity;           ///< keys of the entity, from the index row
    row_keys index_row;        ///< keys of the index row
    std::optional<row> stored; ///< the entity, if it exists and has this index row
};

/// Reads the entities, `in_flight` at a time. `stored` stays empty for an entity that was removed, or now has another index row.
[[nodiscard]] result<void> read_named(
    index_family const& family, std::size_t index, std::vector<named_entity>& all, std::size_t in_flight);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/index/impl/entities_of_rows.ipp>
#endif
