// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The conformance suite, with the same source as on every other backend, on the emulator through libcurl.

#include "differences.hpp"
#include "emulator.hpp"
#include <entitable/testing/conformance.hpp>

using namespace entitable;
using namespace entitable_test;

TEST_CASE("conformance: Azurite through libcurl") {
    if (!has_emulator()) { return; }
    auto const store = emulator();
    std::size_t number = 0;
    for (auto const& each : testing::conformance::behaviours()) {
        for (std::string const& failure :
            testing::conformance::try_behaviour(each, store, "conform" + std::to_string(++number))) {
            if (!is_known(each.name, failure)) { FAIL_CHECK(failure.substr(0, 1000)); }
        }
    }
}
