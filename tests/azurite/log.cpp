// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The suite of logged tables on the emulator.

#include "emulator.hpp"

#include <support/logged_stores.hpp>

using namespace entitable;
using namespace entitable_test;

TEST_CASE("logged: the suite on the emulator") {
    if (!has_emulator()) { return; }
    check_log_on(any_store{emulator()}, "LogSuite", 3);
}
