// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// A backend of your own: you only need an ordered map of bytes (support/map_store.hpp), and the conformance suite
/// tests it. The semantics of tables are implemented once, above it.

#include "support/map_store.hpp"
#include <entitable/entitable.hpp>
#include <entitable/local/local.hpp>
#include <entitable/testing/conformance.hpp>

#include <cstdio>

struct note {
    std::string notebook;
    std::int32_t number{};
    std::string text;
};

ENTITABLE(note,
    partition_key(notebook),
    row_key(descending(number)), // the latest first
    properties(text))

using own_backend = entitable::local<map_store>;

int main() {
    auto const failed = entitable::testing::conformance::run([] { return own_backend{}; });
    for (std::string const& each : failed) { std::printf("%s\n", each.c_str()); }
    std::printf(
        "%zu behaviours tried, %zu failed\n", entitable::testing::conformance::behaviours().size(), failed.size());

    entitable::table<note> notes{own_backend{}, "notes"};
    notes.create().value();
    for (std::int32_t number = 1; number <= 30; ++number) {
        notes.insert({"garden", number, std::to_string(number) + " of 30"}).value();
    }
    using n = entitable::fields<note>;
    for (note const& each : notes.where(n::notebook == "garden").take(3)) {
        std::printf("%d: %s\n", each.number, each.text.c_str());
    }
    return failed.empty() ? 0 : 1;
}
