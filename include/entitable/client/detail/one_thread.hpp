// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Finds a second thread in an object that belongs to one thread at a time. Debug builds look; the members are there in each build, so that
/// layouts never depend on a macro.

#include <entitable/core/assertion.hpp>
#include <entitable/core/atomic.hpp>

#include <cerrno>

/// Whether queries look for a second thread: 1 unless NDEBUG is defined. Bodies of the engine look, so its definition counts.
#if !defined(ENTITABLE_CHECK_THREADS)
#if defined(NDEBUG)
#define ENTITABLE_CHECK_THREADS 0
#else
#define ENTITABLE_CHECK_THREADS 1
#endif
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Which thread is inside an object. A copy of the object has none inside.
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

/// While it lives, the thread that made it is inside. The same thread may enter again; another one ends the program.
class one_thread {
public:
    explicit one_thread([[maybe_unused]] thread_inside& object) {
#if ENTITABLE_CHECK_THREADS
        void const* const here = &errno; // each thread has its own, and every shared library sees the same
        void const* found = nullptr;
        if (object.thread_.compare_exchange_strong(found, here, memory_order::acquire, memory_order::acquire)) {
            entered_ = &object;
        }
        ENTITABLE_ASSERT(found == nullptr || found == here, "two threads are in one query, or in its pages, at once",
            misuse("give each thread a copy of the query, or guard it by a mutex"));
#endif
    }
    one_thread(one_thread const&) = delete;
    one_thread& operator=(one_thread const&) = delete;
    ~one_thread() {
        if (entered_ != nullptr) {
            entered_->thread_.store(nullptr, memory_order::release);
        }
    }

private:
    thread_inside* entered_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
