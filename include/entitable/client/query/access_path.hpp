// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Access paths, and the shapes of predicates from which they are derived at compile time.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/key_layout.hpp>

#include <cstdint>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// The ways in which a query reaches its rows, from the cheapest to the most expensive (source: the table design guide).
enum class access_path : std::uint8_t {
    point,           ///< single entities by both keys
    row_range,       ///< ranges of rows within single partitions
    partition,       ///< whole single partitions
    partition_range, ///< a range of partitions
    table,           ///< the whole table
};

/// Returns the display name: "row_range".
[[nodiscard]] constexpr std::string_view to_string(access_path path) noexcept {
    constexpr std::string_view words[] = {"point", "row_range", "partition", "partition_range", "table"};
    return words[static_cast<std::size_t>(path)];
}

/// The constraint of a conjunction on each key component, two bits each: none (0), a range (1), one value (2). Partition components begin
/// at bit 0, row components at bit 32.
using key_shape = std::uint64_t;

/// Returns the first bit of a component in a `key_shape`.
[[nodiscard]] constexpr unsigned shape_position(key_part part, std::size_t index) noexcept {
    return static_cast<unsigned>(2 * index) + (part == key_part::row ? 32U : 0U);
}

/// The distinct shapes of a predicate's alternatives. Any number of equal alternatives count as one shape.
struct shape_set {
    /// Maximum number of shapes.
    static constexpr std::size_t capacity = 16;

    key_shape shapes[capacity]{}; ///< the first `count` elements are used
    std::size_t count{};          ///< number of shapes in use
    bool overflow{};              ///< the capacity was exceeded: the query counts as a scan of the table

    /// One shape.
    [[nodiscard]] static constexpr shape_set of(key_shape shape) noexcept {
        shape_set set;
        set.insert(shape);
        return set;
    }
    /// Adds a shape unless it is present.
    constexpr void insert(key_shape shape) noexcept {
        for (std::size_t index = 0; index < count; ++index) {
            if (shapes[index] == shape) { return; }
        }
        if (count == capacity) {
            overflow = true;
            return;
        }
        shapes[count++] = shape;
    }
    friend constexpr bool operator==(shape_set const&, shape_set const&) = default;
};

/// Returns the alternatives of `left || right`.
[[nodiscard]] constexpr shape_set either(shape_set const& left, shape_set const& right) noexcept {
    shape_set set = left;
    for (std::size_t index = 0; index < right.count; ++index) { set.insert(right.shapes[index]); }
    set.overflow = set.overflow || right.overflow;
    return set;
}

/// Returns the alternatives of `left && right`: each component has the narrower constraint of the two.
[[nodiscard]] constexpr shape_set both(shape_set const& left, shape_set const& right) noexcept {
    shape_set set;
    set.overflow = left.overflow || right.overflow;
    for (std::size_t one = 0; one < left.count; ++one) {
        for (std::size_t other = 0; other < right.count; ++other) {
            // The greater of two values of 0 to 2, for all components at once: the compiler evaluates this for each &&.
            key_shape const any = left.shapes[one] | right.shapes[other];
            key_shape const fixed = any & 0xAAAA'AAAA'AAAA'AAAAU;
            set.insert(fixed | (any & ~fixed & ~(fixed >> 1U)));
        }
    }
    return set;
}

/// Returns the access path of one alternative.
[[nodiscard]] constexpr access_path path_of(key_shape shape, key_layout partition, key_layout row) noexcept {
    struct reach {
        bool all_fixed{true};
        bool first_narrowed{false};
    };
    auto const look = [shape](key_layout layout, key_part part) {
        reach found;
        for (std::size_t index = 0; index < layout.size(); ++index) {
            key_shape const narrowed = layout[index].literal() ? 2U : (shape >> shape_position(part, index)) & 3U;
            found.all_fixed = found.all_fixed && narrowed == 2;
            found.first_narrowed = found.first_narrowed || (index == 0 && narrowed != 0);
        }
        return found;
    };
    reach const partitions = look(partition, key_part::partition);
    reach const rows = look(row, key_part::row);
    if (!partitions.all_fixed) { return partitions.first_narrowed ? access_path::partition_range : access_path::table; }
    return rows.all_fixed ? access_path::point : rows.first_narrowed ? access_path::row_range : access_path::partition;
}

/// Returns the worst path of all alternatives.
[[nodiscard]] constexpr access_path path_of(shape_set const& set, key_layout partition, key_layout row) noexcept {
    access_path worst = access_path::point;
    for (std::size_t index = 0; index < set.count; ++index) {
        access_path const path = path_of(set.shapes[index], partition, row);
        worst = path > worst ? path : worst;
    }
    return set.overflow ? access_path::table : worst;
}

ENTITABLE_END_NAMESPACE

#endif
