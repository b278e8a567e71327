// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Queries in pipelines of range-v3: a `query` is a view of it. Standard pipelines need no header. A query is a view in either library: it
/// is single pass and cheap to copy, and each `begin()` runs it again.
///
///     auto names = runners.where(...) | ranges::views::transform(&registration::name) | ranges::to<std::vector>();

#include <entitable/client/query.hpp>

#include <range/v3/range/concepts.hpp>

/// \cond
template <class Entity, entitable::access_path Path, class Row>
inline constexpr bool ranges::enable_view<entitable::query<Entity, Path, Row>> = true;
/// \endcond
