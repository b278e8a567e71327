// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Every umbrella header in two files of one program: a body that is not inline is then defined twice.
#include <support/umbrellas.hpp>
