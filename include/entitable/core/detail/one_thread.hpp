// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Detects a second thread in an object that belongs to one thread at a time. Debug builds check; the members exist in
/// every build, so that no layout depends on a macro.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/assertion.hpp>
#include <entitable/core/atomic.hpp>

#include <cerrno>

/// Whether queries check for a second thread: 1 unless NDEBUG is defined. The check is in the bodies of the engine, so
/// their definition of NDEBUG counts.
#if !defined(ENTITABLE_CHECK_THREADS)
#if defined(NDEBUG)
#define ENTITABLE_CHECK_THREADS 0
#else
#define ENTITABLE_CHECK_THREADS 1
#endif
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The thread that currently uses an object. A copy of the object starts without such a thread.
class thread_inside {
public:
    thread_inside() = default;
    thread_inside(thread_inside const&) noexcept {}
    thread_inside& operator=(thread_inside const&) noexcept { return *this; }
    ~thread_inside() = default;

private:
    friend class one_thread;
    atomic<void const*> thread_{nullptr};
};

/// Marks the thread that makes this guard as the current user. The same thread may enter again; if another thread does, the program ends.
class one_thread {
public:
    explicit one_thread([[maybe_unused]] thread_inside& object) {
#if ENTITABLE_CHECK_THREADS
        void const* const here = &errno; // differs for each thread, and is the same in every shared library
        void const* found = nullptr;
        if (object.thread_.compare_exchange_strong(found, here, memory_order::acquire, memory_order::acquire)) {
            entered_ = &object;
        }
        ENTITABLE_ASSERT(found == nullptr || found == here, "two threads use one query, or its pages, at the same time",
            misuse("give each thread a copy of the query, or protect it with a mutex"));
#endif
    }
    one_thread(one_thread const&) = delete;
    one_thread& operator=(one_thread const&) = delete;
    ~one_thread() {
        if (entered_ != nullptr) { entered_->thread_.store(nullptr, memory_order::release); }
    }

private:
    thread_inside* entered_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
