// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Numbers that many programs draw from one counter: `sequence` and `sharded_sequence`. Part of the core, but not of its
/// umbrella, so that programs that count nothing do not compile it.

#include <entitable/pattern/sequence.hpp>
#include <entitable/pattern/sharded_sequence.hpp>
