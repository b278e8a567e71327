// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The result of a fold over tables, kept in a table of its own: `materialized_view`. Part of the core, but not of its umbrella, so that
/// programs without views do not compile it.

#include <entitable/bulk/materialized_view.hpp>
