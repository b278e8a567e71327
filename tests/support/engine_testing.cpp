// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The bodies of the conformance suite, compiled once for all programs of the tests.
#include <entitable/src/testing.hpp>
