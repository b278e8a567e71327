// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The bodies of the core, compiled once for all programs of the tests.
#include <entitable/src.hpp>
