// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
module;

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error "define ENTITABLE_SEPARATE_COMPILATION, and link the engine: a module has declarations only"
#endif
// What is imported is not declared again.
#define ENTITABLE_IMPORTED

#include <entitable/core/config.hpp>
#include <entitable/macros.hpp>
#include <entitable/core/assertion.hpp>
#include <entitable/core/chrono.hpp>
#include <entitable/core/iterator.hpp>

#include <algorithm>
#include <array>
#if !defined(__GNUC__)
#include <atomic>
#endif
#include <bit>
#include <cerrno>
#include <chrono>
#include <compare>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Winclude-angled-in-module-purview"
#elif defined(_MSC_VER)
#pragma warning(disable : 5244) // an include behind the declaration of the module
#endif

export module entitable.feed;

export import entitable.changes;
export import entitable.messaging;

// Files that include and files that import have the same names, which are those of the engine.
export extern "C++" {
#include <entitable/feed.hpp>
}
