// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/aggregate/aggregate_declarations.hpp>
#include <entitable/core/row/detail/property_finder.hpp>

#include <algorithm>
#include <cmath>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY bool same_sums(row_view one, row_view other, double bound) {
    property_finder others{other};
    property_cursor cursor{one.payload};
    property_view property;
    while (cursor.next(property)) {
        auto const theirs = others.value(property.name);
        if (!property.present || !theirs) {
            if (property.present != theirs.has_value()) { return false; }
            continue;
        }
        if (property.type == edm_type::float64 && theirs->type() == edm_type::float64) {
            double const ours = property.value.as_float64();
            double const size = (std::max)({1.0, std::fabs(ours), std::fabs(theirs->as_float64())});
            if (!(std::fabs(ours - theirs->as_float64()) <= bound * size)) { return false; }
        } else if (!(property.value == *theirs)) {
            return false;
        }
    }
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
