// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of the core, for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for all files of the program, and
/// include this header in exactly one of them. The parts that it includes can be compiled in parallel instead, each in exactly one file.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/src/bulk.hpp>
#include <entitable/src/client.hpp>
#include <entitable/src/companions.hpp>
#include <entitable/src/core.hpp>
#include <entitable/src/fleet.hpp>
#include <entitable/src/memory.hpp>
#include <entitable/src/moves.hpp>
#include <entitable/src/shards.hpp>
#include <entitable/src/work.hpp>
