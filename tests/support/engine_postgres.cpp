// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The bodies of the PostgreSQL backend, which not every machine can compile.
#include <entitable/src/postgres.hpp>
