// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Tests of applications: `manual_clock`, `dump` of a store, `spy`, `scripted` responses, assertions without a test framework. Header-only
/// even if the program uses separate compilation. Authors of backends include entitable/testing/conformance.hpp.

#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/contents.hpp>
#include <entitable/testing/faulty.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>
#include <entitable/testing/scripted.hpp>
#include <entitable/testing/spy.hpp>
#include <entitable/testing/verdict.hpp>
