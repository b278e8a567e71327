// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The outcome of a write whose response was lost, concluded from a row.

#include <entitable/core/request/requests.hpp>
#include <entitable/core/row/compare.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Outcome of a write.
enum class write_outcome : std::uint8_t {
    applied,     ///< the write was applied
    not_applied, ///< the write was not applied, and never will be
    unknown,     ///< the outcome is not known
};

namespace detail {

/// Concludes from `found` (null if there is no entity) whether `change` was applied. In a transaction equal rows of other writers prove
/// nothing, so the conclusion is weaker for a change that is not `alone`.
write_outcome outcome_by_comparing(mutation const& change, get_entity::response const* found, bool alone) noexcept;

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/request/impl/write_outcome.ipp>
#endif
