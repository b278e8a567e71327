// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The short and the long form of a test with an adjustable run time.

#include <cstddef>
#include <cstdlib>

namespace entitable_test {

/// `usual` rounds, or `patient` ones with `tests/run long`, which sets ENTITABLE_TEST_LONG; `optimized` ones in the optimized
/// build without sanitizers.
inline std::size_t rounds(std::size_t usual, std::size_t patient, std::size_t optimized = 0) {
#if defined(ENTITABLE_TEST_OPTIMIZED)
    usual = optimized != 0 ? optimized : usual;
#else
    static_cast<void>(optimized);
#endif
    return std::getenv("ENTITABLE_TEST_LONG") == nullptr ? usual : patient;
}

} // namespace entitable_test
