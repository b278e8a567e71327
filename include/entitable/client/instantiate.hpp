// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// ENTITABLE_INSTANTIATE(type): compiles the conversions and calls of an entity that was declared with ENTITABLE_EXTERN(type).

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/detail/keyed_operations.hpp>
#include <entitable/client/extern.hpp>
#include <entitable/client/instantiate_macro.hpp>
#include <entitable/client/query.hpp>

#endif
