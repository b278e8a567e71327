// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Awaited calls, thousands of them concurrently from one thread: `async_table` in an `event_loop`. Part of the core. The core umbrella
/// does not include it, because it needs a compiler with coroutines and `<functional>`.

#if !defined(__cpp_impl_coroutine)
#error "entitable/async.hpp needs a compiler with coroutines: GCC 11 or newer, Clang 14 or newer, MSVC 19.28 or newer"
#else
#include <entitable/async/async_query.hpp>
#include <entitable/async/async_sequence.hpp>
#include <entitable/async/async_table.hpp>
#include <entitable/async/awaited.hpp>
#include <entitable/async/event_loop.hpp>
#include <entitable/async/own_stack.hpp>
#include <entitable/async/scopes.hpp>
#include <entitable/async/semaphore.hpp>
#include <entitable/async/task.hpp>
#include <entitable/async/when_all.hpp>
#include <entitable/entitable.hpp>
#endif
