// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What every test file includes, parsed once. A test file still names what it uses.

#include <support/catch.hpp>
#include <support/umbrellas.hpp>
