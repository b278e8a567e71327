// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The life cycle of an index: created with its table, built, retired. Each step is written under the version of the preceding state, and
/// waits until no program relies on an earlier state.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/index/detail/index_family.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Writes the rows of an index for all entities of a table, in bulk.
[[nodiscard]] result<index_repair> fill_index(index_family const& family, std::size_t index);
/// Builds one index while entities are written: fencing, waiting, building, writing its rows, ready. Continues an
/// interrupted build. Corrects the rows of an index that is ready.
[[nodiscard]] result<index_repair> build_index(index_family const& family, std::size_t index);
/// Builds all indexes and sums that are not ready, with one wait.
[[nodiscard]] result<index_repair> build_missing(index_family const& family);
/// Does the same in a table that programs without a declaration have written: waits for their requests, and retains correct rows.
[[nodiscard]] result<index_repair> adopt_indexed(index_family const& family);
/// Retires an index by name, which need not be declared in this program: retiring, waiting, retired.
[[nodiscard]] result<void> retire_index(index_family const& family, std::string_view name);
/// Creates the tables of entities and indexes; indexes of a table without entities are ready. Returns whether the table of entities is new.
[[nodiscard]] result<bool> create_indexed(index_family const& family);
[[nodiscard]] result<void> drop_indexed(index_family const& family);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/index/impl/index_build.ipp>
#include <entitable/client/companions/index/impl/index_fill.ipp>
#endif

#endif
