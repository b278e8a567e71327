// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A second file that uses the library in the program of tests/design: its bodies exist once all the same.
#include <entitable/entitable.hpp>
#include <entitable/retrying.hpp>
#include <entitable/sequence.hpp>
