// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Stores by address: `open("file:shop.db")`, `open("env:STORE")`, so that where a program runs is configuration. It contains
/// `memory_stores`; the other kinds of stores come from the headers of their components. Part of the core. The core umbrella does not
/// include it, so that other programs do not compile it.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/address/open.hpp>
#include <entitable/local/memory/memory_address.hpp>

#endif
