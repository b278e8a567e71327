// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The concepts, tags and sentinels of `<iterator>`. That header brings the iterators of streams, and with them their buffers and locales.
/// Where the standard library is libstdc++ and has the rest in headers of its own, only those are included.

#include <cstddef>
#include <string_view> // what the headers below rely on, but do not include

#if defined(__GLIBCXX__) && __has_include(<bits/ranges_base.h>)
#include <bits/ranges_base.h>
#include <bits/stl_iterator.h>
#else
#include <iterator>
#include <ranges>
#endif
