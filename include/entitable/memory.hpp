// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A store in memory, with the semantics of the service: `memory_backend`, `local_options`. It is for tests and for programs that need no
/// other store.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/local/memory/memory_backend.hpp>

#endif
