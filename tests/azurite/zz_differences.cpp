// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Every listed difference was found by the tests before: the tests of this file run last.

#include "differences.hpp"
#include "emulator.hpp"

using namespace entitable_test;

TEST_CASE("every listed difference was found") {
    if (!has_emulator()) { return; }
    for (difference const& each : differences) {
        INFO("not found: " << each.where << ": " << each.found);
        CHECK((each.seen || each.sometimes));
    }
}
