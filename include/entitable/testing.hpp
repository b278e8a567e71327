// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// For tests of applications, besides the in-memory backend: a clock that stands still, a readable dump of a
/// store and the difference of two, a spy, scripted answers, assertions that need no test framework. Header-only also where the
/// rest is compiled separately. For authors of backends: entitable/testing/conformance.hpp.

#include <entitable/backends/memory/memory_backend.hpp>
#include <entitable/testing/contents.hpp>
#include <entitable/testing/faulty.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>
#include <entitable/testing/scripted.hpp>
#include <entitable/testing/spy.hpp>
#include <entitable/testing/verdict.hpp>
