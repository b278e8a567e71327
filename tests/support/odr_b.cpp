// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// See odr_a.cpp.
#include <support/umbrellas.hpp>

int main() {}
