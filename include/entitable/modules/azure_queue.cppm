// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
module;

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error "define ENTITABLE_SEPARATE_COMPILATION, and link the engine: a module has declarations only"
#endif

#include <entitable/aggregate.hpp>
#include <entitable/azure.hpp>
#include <entitable/core/detail/pending_list.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/detail/row_digest.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/entitable.hpp>
#include <entitable/identity.hpp>
#include <entitable/index.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/once.hpp>
#include <entitable/open.hpp>
#include <entitable/retrying.hpp>
#include <entitable/tables.hpp>
#include <entitable/wide.hpp>
#include <entitable/worker.hpp>

#include <functional>

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Winclude-angled-in-module-purview"
#elif defined(_MSC_VER)
#pragma warning(disable : 5244) // an include behind the declaration of the module
#endif

export module entitable.azure_queue;

export import entitable.azure;
export import entitable.messaging;

export extern "C++" {
#include <entitable/azure_queue.hpp>
}
