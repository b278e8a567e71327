// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The bodies of the REST backend, once for all programs of the tests.
#include <entitable/azure/src.hpp>
