// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The short and the long form of a test with an adjustable run time.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

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

/// The first seed of random histories: ENTITABLE_FIRST_HISTORY, for a long run in parts.
inline std::uint64_t first_history() {
    char const* const first = std::getenv("ENTITABLE_FIRST_HISTORY");
    return first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
}

/// The number of random histories: ENTITABLE_HISTORIES, or as `rounds`.
inline std::uint64_t histories(std::size_t usual, std::size_t patient, std::size_t optimized = 0) {
    char const* const most = std::getenv("ENTITABLE_HISTORIES");
    return most != nullptr ? std::strtoull(most, nullptr, 10) : rounds(usual, patient, optimized);
}

/// Writes how many histories have passed, each thousand, so that a run that is stopped counts as well.
inline void tell_histories(std::string_view what, std::uint64_t passed) {
    if (passed != 0 && passed % 1'000 == 0) { std::cerr << what << ": " << passed << " histories passed\n"; }
}

} // namespace entitable_test
