// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Sums, for one more version: the contents of `tables` under an earlier name. Include <entitable/tables.hpp>.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/tables.hpp>

#endif
