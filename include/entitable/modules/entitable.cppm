// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
module;

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error "define ENTITABLE_SEPARATE_COMPILATION, and link the engine: a module has declarations only"
#endif
#define ENTITABLE_EXPORTED

#include <entitable/core/config.hpp>
#include <entitable/macros.hpp>
#include <entitable/core/chrono.hpp>
#include <entitable/core/iterator.hpp>

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif
#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#endif
#if __has_include(<sanitizer/common_interface_defs.h>)
#include <sanitizer/common_interface_defs.h>
#endif
#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif
#if __has_include(<ucontext.h>)
#include <ucontext.h>
#endif
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif
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
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
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

export module entitable;

// Files that include and files that import have the same names, which are those of the engine.
export extern "C++" {
#include <entitable/aggregate.hpp>
#include <entitable/entitable.hpp>
#include <entitable/index.hpp>
#include <entitable/memory.hpp>
#include <entitable/open.hpp>
#include <entitable/retrying.hpp>
#include <entitable/tables.hpp>
#include <entitable/wide.hpp>
#include <entitable/core/detail/pending_list.hpp>
#include <entitable/core/detail/side_stack.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/detail/row_digest.hpp>
#include <entitable/core/transport/contention.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {
struct imported_module {};
} // namespace detail
ENTITABLE_END_NAMESPACE
}
