// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Headers that every test file includes, parsed once. A test file still includes what it uses.

#include <support/catch.hpp>
#include <support/umbrellas.hpp>
