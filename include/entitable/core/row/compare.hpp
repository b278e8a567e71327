// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Comparison of the properties of two rows, in any order.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/row/detail/property_finder.hpp>
#include <entitable/core/row/row.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Whether every property that is present in `part` is present in `whole` with the same type and value. Keys and Timestamp are ignored.
/// False if the bytes of `part` are damaged.
[[nodiscard]] inline bool holds_properties(row_view whole, row_view part) {
    detail::property_finder sought{whole};
    property_cursor cursor{part.payload};
    for (property_view each; cursor.next(each);) {
        if (each.present) {
            auto const found = sought.value(each.name);
            if (!found || !(*found == each.value)) { return false; }
        }
    }
    return !cursor.damaged();
}

/// Whether both rows have the same properties with the same types and values; false if bytes are damaged.
[[nodiscard]] inline bool same_properties(row_view left, row_view right) {
    return holds_properties(left, right) && holds_properties(right, left);
}

ENTITABLE_END_NAMESPACE

#endif
