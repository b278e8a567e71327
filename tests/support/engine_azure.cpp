// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The bodies of the client for the service and of the server, compiled once for all programs of the tests.
#include <entitable/azure/src.hpp>
#include <entitable/server/src.hpp>
