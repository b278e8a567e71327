// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The digest of a key layout, for the stored definitions of indexes and sums.

#include <entitable/client/mapping/key_layout.hpp>
#include <entitable/core/request/part_hash.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline void add_layout(part_hash& to, key_layout layout) noexcept {
    to.add(layout.size());
    for (key_component const& each : layout) {
        to.add(each.name);
        to.add(static_cast<std::uint64_t>(each.is) | std::uint64_t{each.optional} << 8U |
            std::uint64_t{each.escaped} << 9U | std::uint64_t{each.buckets} << 16U);
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
