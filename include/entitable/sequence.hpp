// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Unique numbers for many programs from one counter: `sequence`, `sharded_sequence`. Part of the core. The core umbrella does not include
/// it, so that other programs do not compile it.

#include <entitable/work/sequence/sequence.hpp>
