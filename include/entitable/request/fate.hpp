// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What a row says about a write whose answer was lost.

#include <entitable/request/requests.hpp>
#include <entitable/row/compare.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// What became of a write.
enum class fate : std::uint8_t {
    applied,     ///< it was made
    not_applied, ///< it was not made, and never will be
    unknown,     ///< it is not known
};

namespace detail {

/// What `found` (null when there is no entity) says about `change`. In a transaction equal rows of other writers prove nothing, so
/// less is concluded for a change that is not `alone`.
fate fate_by_comparing(mutation const& change, get_entity::response const* found, bool alone) noexcept;

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/request/impl/fate.ipp>
#endif
