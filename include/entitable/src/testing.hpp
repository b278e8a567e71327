// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of the conformance suite, for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for all files of the
/// program, and include this header in exactly one of them, and `entitable/src.hpp` in one. Only programs that test a backend need it.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/testing.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/testing/impl/conformance.ipp>
