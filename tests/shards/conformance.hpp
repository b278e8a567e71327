// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// The conformance suite over shards.

#include <entitable/testing/conformance.hpp>

#include <support/catch.hpp>

namespace sharding {

/// `but_for`: the beginning of a behaviour that is another there.
inline void conforms(entitable::function_ref<entitable::testing::conformance::handles()> make,
    std::string_view but_for = "no such behaviour") {
    // An observer receives what was sent: the name of the table in the store.
    constexpr std::string_view names_of_tables = "each attempt is counted and reported: the observer's events";
    for (std::string const& failure : entitable::testing::conformance::run(make)) {
        if (!failure.starts_with(names_of_tables) && !failure.starts_with(but_for)) {
            FAIL_CHECK(failure.substr(0, 2000));
        }
    }
}

} // namespace sharding
