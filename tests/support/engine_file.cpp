// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The bodies of the file backend, compiled once for all programs of the tests.
#include <entitable/src/file.hpp>
