// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The bodies of the library, once for all programs of the tests.
#include <entitable/advice/src.hpp>
#include <entitable/azure/src.hpp>
#include <entitable/file/src.hpp>
#include <entitable/server/src.hpp>
#include <entitable/src.hpp>
