// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A second file that uses the library in the program of tests/design: its bodies still exist only once.
#include <entitable/entitable.hpp>
#include <entitable/retrying.hpp>
#include <entitable/sequence.hpp>
