// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `entities_of_rows`: the entities that some index rows name, read by their keys, several at once.

#include <entitable/index/detail/index_family.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// An entity that an index row has named.
struct named_entity {
    row_keys entity;           ///< as the index row names it
    row_keys index_row;        ///< the index row
    std::optional<row> stored; ///< the entity, if it is there and has this index row
};

/// Reads them, `in_flight` at a time. One that is gone, or has another index row by now, is left empty.
[[nodiscard]] result<void> read_named(
    index_family const& family, std::size_t index, std::vector<named_entity>& all, std::size_t in_flight);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/index/impl/entities_of_rows.ipp>
#endif
