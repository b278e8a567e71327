// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The short and the long form of a test that can take as much time as it is given.

#include <cstddef>
#include <cstdlib>

namespace entitable_test {

/// `usual` rounds, or `patient` ones under `tests/run long`, which sets ENTITABLE_TEST_LONG.
inline std::size_t rounds(std::size_t usual, std::size_t patient) {
    return std::getenv("ENTITABLE_TEST_LONG") == nullptr ? usual : patient;
}

} // namespace entitable_test
