// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
module;

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error "define ENTITABLE_SEPARATE_COMPILATION, and link the engine: a module has declarations only"
#endif

#include <entitable/aggregate.hpp>
#include <entitable/core/detail/pending_list.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/detail/row_digest.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/entitable.hpp>
#include <entitable/index.hpp>
#include <entitable/memory.hpp>
#include <entitable/open.hpp>
#include <entitable/retrying.hpp>
#include <entitable/sequence.hpp>
#include <entitable/tables.hpp>
#include <entitable/wide.hpp>

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif
#if !defined(_WIN32)
#include <fcntl.h>
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
#if !defined(_WIN32)
#include <unistd.h>
#endif
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif
#include <concepts>
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Winclude-angled-in-module-purview"
#elif defined(_MSC_VER)
#pragma warning(disable : 5244) // an include behind the declaration of the module
#endif

export module entitable.async;

export import entitable.sequence;

export extern "C++" {
#include <entitable/async.hpp>
#include <entitable/async_tables.hpp>
}
