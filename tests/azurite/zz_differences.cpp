// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The list of differences holds no more than what the tests before have found: this file's is the last of them.

#include "differences.hpp"
#include "emulator.hpp"

using namespace entitable_test;

TEST_CASE("every listed difference was found") {
    if (!has_emulator()) {
        return;
    }
    for (difference const& each : differences) {
        INFO("not found: " << each.where << ": " << each.found);
        CHECK((each.seen || each.sometimes));
    }
}
