// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Short forms of what tests do with an ordered_store.

#include <entitable/local/ordered_store.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace entitable_test {

using entitable::lookup;

/// One row that a scan visited.
struct stored_row {
    std::string partition;
    std::string row;
    std::string bytes;
    friend bool operator==(stored_row const&, stored_row const&) = default;
};

template <class Store>
lookup put(
    Store& store, std::string_view table, std::string_view partition, std::string_view row, std::string_view bytes) {
    return store
        .update(table, partition,
            [&](typename Store::transaction& rows) {
                rows.put(row, std::string{bytes});
                return true;
            })
        .value();
}

template <class Store>
lookup erase(Store& store, std::string_view table, std::string_view partition, std::string_view row) {
    return store
        .update(table, partition,
            [&](typename Store::transaction& rows) {
                rows.erase(row);
                return true;
            })
        .value();
}

template <class Store>
std::optional<std::string> read(
    Store& store, std::string_view table, std::string_view partition, std::string_view row) {
    std::optional<std::string> bytes;
    (void)store.get(table, partition, row, [&](std::string_view found) { bytes.emplace(found); }).value();
    return bytes;
}

template <class Store>
std::vector<stored_row> rows(Store& store, std::string_view table, entitable::scan_range const& range = {}) {
    std::vector<stored_row> found;
    (void)store
        .scan(table, range,
            [&](std::string_view partition, std::string_view row, std::string_view bytes) {
                found.push_back({std::string{partition}, std::string{row}, std::string{bytes}});
                return true;
            })
        .value();
    return found;
}

} // namespace entitable_test
