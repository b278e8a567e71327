// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Writes the rows of an index that is being built: in bulk from one scan of the entities, then compared and repaired.

#include <entitable/client/companions/index/detail/index_family.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Writes the rows of one index while entities are written, and repairs rows changed meanwhile. Cost: about one request for each 100 rows
/// and three scans; memory of a bulk load.
[[nodiscard]] result<index_repair> fill_index(index_family const& family, std::size_t index);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/index/impl/index_fill.ipp>
#endif
