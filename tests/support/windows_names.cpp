// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The macros of windows.h (min, max, small, interface, DELETE, ERROR, ...) come first; the library still compiles.
// clang-format off
#include <winsock2.h>
#include <windows.h>
// clang-format on
#include <support/umbrellas.hpp>
