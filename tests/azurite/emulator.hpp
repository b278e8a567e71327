// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The emulator that `tests/tools/azurite run` started, for tests.

#include <entitable/azure.hpp>

#include <support/catch.hpp>

#include <cstdlib>
#include <string>

namespace entitable_test {

/// Whether there is an emulator. Prints a line if not.
inline bool has_emulator() {
    bool const given = std::getenv("ENTITABLE_AZURITE") != nullptr;
    if (!given) { WARN("skipped: ENTITABLE_AZURITE holds no connection string; tests/tools/azurite run gives one"); }
    return given;
}

/// A backend on the emulator.
inline entitable::azure_backend emulator(entitable::rest_options options = {}) {
    return entitable::azure_backend{std::getenv("ENTITABLE_AZURITE"), options};
}

} // namespace entitable_test
