// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// All bodies in one file: no two of them have the same name.

#define ENTITABLE_SEPARATE_COMPILATION
#include <entitable/azure/src.hpp>
#include <entitable/file/src.hpp>
#include <entitable/src.hpp>
