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
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <istream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Winclude-angled-in-module-purview"
#elif defined(_MSC_VER)
#pragma warning(disable : 5244) // an include behind the declaration of the module
#endif

export module entitable.bulk;

export import entitable;

export extern "C++" {
#include <entitable/bulk.hpp>
#include <entitable/copy.hpp>
#include <entitable/csv.hpp>
#include <entitable/expiry.hpp>
#include <entitable/json_lines.hpp>
#include <entitable/schema.hpp>
#include <entitable/views.hpp>
}
