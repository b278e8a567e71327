// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The bodies of the client for the service and of the server, compiled once for all programs of the tests.
#include <entitable/src/azure.hpp>
#include <entitable/src/server.hpp>
