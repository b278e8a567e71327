// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The bodies of advice, compiled once for all programs of the tests.
#include <entitable/src/advice.hpp>
