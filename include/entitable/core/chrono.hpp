// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The durations and clocks of `<chrono>`. Since C++20 that header includes string streams and calendars, which take a tenth of the compile
/// time of a file if the engine is compiled once. If libstdc++ has the clocks in a separate header, only that header is included. A file
/// that uses the calendar includes `<chrono>` itself.

#include <cstddef>

#if defined(__GLIBCXX__) && __has_include(<bits/chrono.h>)
#include <bits/chrono.h>
#else
#include <chrono>
#endif
