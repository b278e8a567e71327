// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Compares the partition keys of two types, and computes the digest of a layout, for the stored definitions of indexes and sums.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/mapping.hpp>
#include <entitable/core/request/part_hash.hpp>

#include <tuple>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The values of the members in a key, in order.
template <class Components>
struct values_of;
template <class... Components>
struct values_of<components<void, Components...>> {
    using type = std::tuple<typename Components::value_type...>;
};

/// Whether two keys have components of the same types and kinds, and the same literals.
[[nodiscard]] constexpr bool same_layout(key_layout one, key_layout other) noexcept {
    bool same = one.size() == other.size();
    for (std::size_t index = 0; same && index < one.size(); ++index) {
        key_component const& left = one[index];
        key_component const& right = other[index];
        same = left.is == right.is && left.optional == right.optional && left.escaped == right.escaped &&
            left.buckets == right.buckets && (!left.literal() || left.name == right.name);
    }
    return same;
}

template <class One, class Other>
inline constexpr bool share_partitions =
    std::is_same_v<typename values_of<typename mapping<One>::partition_components>::type,
        typename values_of<typename mapping<Other>::partition_components>::type> &&
    same_layout(mapping<One>::partition_layout, mapping<Other>::partition_layout);

/// Adds a layout to a digest.
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

#endif
