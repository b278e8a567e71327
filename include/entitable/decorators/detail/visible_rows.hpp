// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Pages without operation rows.

#include <entitable/request/operation_row.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Removes the operation rows from a page, by their keys: a projection may have left out the rest.
inline void leave_out_operation_rows(page& rows) {
    std::size_t found = 0;
    for (std::size_t index = 0; index < rows.size(); ++index) {
        found += rows[index].row_key.starts_with(operation_row::row_key_prefix) ? 1U : 0U;
    }
    if (found == 0) {
        return;
    }
    page visible;
    visible.reserve(rows.size() - found, rows.bytes());
    for (std::size_t index = 0; index < rows.size(); ++index) {
        if (!rows[index].row_key.starts_with(operation_row::row_key_prefix)) {
            visible.append(rows[index]);
        }
    }
    rows = std::move(visible);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
