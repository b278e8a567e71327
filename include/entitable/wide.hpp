// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Entities of more than 252 properties, or more than 1 MiB: `table<wide<E>>`. Part of the core. The core umbrella does not include it,
/// so that other programs do not compile it.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/wide/wide_table.hpp>

#endif
