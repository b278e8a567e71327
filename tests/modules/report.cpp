// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// A file of the same program that includes headers: its types and functions are those of the files that import.

#include <entitable/entitable.hpp>
#include <entitable/tables.hpp>

std::size_t count_rows(entitable::any_store const& store, std::string_view table) {
    entitable::row_table const rows{store, table};
    return static_cast<std::size_t>(rows.scan_table().count().value());
}

entitable::result<int> refused() { return entitable::failure{entitable::error_code::entity_not_found, "thrown across files"}; }
