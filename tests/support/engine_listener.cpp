// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The bodies of the listener, compiled once for all programs of the tests that have one.
#include <entitable/src/listener.hpp>
