// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Secondary indexes and unique keys: `indexed_table`; `elsewhere` for an index in other partitions. Part of the core. The core
/// umbrella does not include it, so that other programs do not compile it.

#include <entitable/client/companions/index/indexed_table.hpp>
