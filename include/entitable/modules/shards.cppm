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
#include <entitable/tables.hpp>
#include <entitable/wide.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Winclude-angled-in-module-purview"
#elif defined(_MSC_VER)
#pragma warning(disable : 5244) // an include behind the declaration of the module
#endif

export module entitable.shards;

export import entitable;

export extern "C++" {
#include <entitable/fleet.hpp>
#include <entitable/shards.hpp>
}
