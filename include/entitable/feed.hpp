// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Programs that follow the changes of a table, over any number of partitions: `feed`. Part of the core. The core umbrella does not
/// include it, so that other programs do not compile it.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/changes.hpp>
#endif
#include <entitable/work/feed/feed.hpp>
