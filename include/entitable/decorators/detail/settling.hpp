// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What a row that was read says of a write whose answer was lost.

#include <entitable/request/requests.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// What became of a write.
enum class fate : std::uint8_t {
    applied,
    not_applied,
    unknown, ///< it cannot be told
};

namespace detail {

/// Whether every property that is present in `part` is present in `whole` with the same type and value.
bool holds_properties(row_view whole, row_view part) noexcept;
/// Whether both have the same properties, type and value.
[[nodiscard]] inline bool same_properties(row_view left, row_view right) noexcept {
    return holds_properties(left, right) && holds_properties(right, left);
}

/// What `found` (null when there is no entity) says of `change`. In a transaction other writers' equal rows prove nothing,
/// so that less is told of a change that is not `alone`.
fate fate_by_comparing(mutation const& change, get_entity::response const* found, bool alone) noexcept;

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/decorators/impl/settling.ipp>
#endif
