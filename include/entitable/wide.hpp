// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `wide_table<E>`: entities of more than 252 properties, or more than 1 MiB. Part of the core, but not of its umbrella, so that
/// programs without such entities do not compile it.

#include <entitable/pattern/wide_table.hpp>
