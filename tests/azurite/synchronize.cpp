// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The suite of synchronisation with the cloud on the emulator, and devices in memory.

#include "emulator.hpp"
#include <entitable/memory.hpp>

#include <support/synced_clouds.hpp>

using namespace entitable;
using namespace entitable_test;

TEST_CASE("synchronize: the suite with the cloud on the emulator") {
    if (!has_emulator()) { return; }
    auto const device = [] { return any_store{memory_backend{}}; };
    check_synchronisation_on({any_store{emulator()}, any_store{memory_backend{}}, device, "SyncSuite", 3});
}
