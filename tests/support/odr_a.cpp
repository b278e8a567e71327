// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Linked into every test program together with odr_b.cpp: a body that is not inline is then defined twice.
#include <support/umbrellas.hpp>
