// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The concepts, tags and sentinels of `<iterator>`. The whole header also has stream iterators, and with them stream buffers and locales.
/// If libstdc++ has the rest in separate headers, only those are included.

#include <cstddef>
#include <string_view> // needed by the headers below, which do not include it

#if defined(__GLIBCXX__) && __has_include(<bits/ranges_base.h>)
#include <bits/ranges_base.h>
#include <bits/stl_iterator.h>
#else
#include <iterator>
#include <ranges>
#endif
