// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/src.hpp>
