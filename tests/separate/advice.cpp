// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The one file of a separately compiled program that contains the bodies of the advice.
#include <entitable/src/advice.hpp>
