// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// A file of the same program that includes headers: its types and functions are those of the files that import.

#include <entitable/entitable.hpp>

#include <string>

namespace {

/// What this file needs of an order.
struct numbered {
    std::string customer;
    std::int64_t number{};
};

ENTITABLE(numbered, partition_key(customer), row_key(number))

} // namespace

std::size_t count_rows(entitable::any_store const& store, std::string_view table) {
    return static_cast<std::size_t>(entitable::table<numbered>{store, std::string{table}}.scan_table().count().value());
}

entitable::result<int> refused() {
    return entitable::failure{entitable::error_code::entity_already_exists, "thrown across files"};
}
