// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The durations and clocks of `<chrono>`. From C++20 on that header brings string streams and calendars, which are a tenth of what
/// a user's file costs to compile where the engine is compiled once. Where the standard library is libstdc++ and has the clocks in
/// a header of their own, only that one is included. A file that uses the calendar includes `<chrono>` itself.

#include <cstddef>

#if defined(__GLIBCXX__) && __has_include(<bits/chrono.h>)
#include <bits/chrono.h>
#else
#include <chrono>
#endif
