// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/local/file/detail/own_process.hpp>

#include <mutex>

#if !defined(_WIN32)
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

#if defined(_WIN32)

ENTITABLE_DECL own_handle own_handle::open(char const*, int, unsigned) { return {}; }
ENTITABLE_DECL void own_handle::close() noexcept {}

#else

/// All handles of the process. Never destroyed, because objects that live until the end of the program may have some.
struct own_handles {
    std::mutex mutex;
    own_handle::kept* first{}; ///< guarded

    [[nodiscard]] static own_handles& all() {
        static own_handles* const only = [] {
            auto* const made = new own_handles;
            // The mutex is held during the fork: the child finds the list consistent, and owns the mutex.
            ::pthread_atfork([] { all().mutex.lock(); }, [] { all().mutex.unlock(); },
                [] {
                    for (own_handle::kept* each = all().first; each != nullptr; each = each->next) {
                        ::close(std::exchange(each->handle, -1));
                    }
                    all().mutex.unlock();
                });
            return made;
        }();
        return *only;
    }
};

ENTITABLE_DECL own_handle own_handle::open(char const* path, int flags, unsigned mode) {
    own_handles& all = own_handles::all();
    auto made = std::make_unique<kept>();  // allocates first, so that no handle is lost if memory runs out
    std::lock_guard const lock{all.mutex}; // a child made between these two lines would keep the handle
    made->handle = ::open(path, flags, mode);
    own_handle opened;
    if (made->handle < 0) { return opened; }
    made->next = all.first;
    if (all.first != nullptr) { all.first->previous = made.get(); }
    all.first = made.get();
    opened.kept_ = std::move(made);
    return opened;
}

ENTITABLE_DECL void own_handle::close() noexcept {
    if (!kept_) { return; }
    own_handles& all = own_handles::all();
    {
        std::lock_guard const lock{all.mutex};
        (kept_->previous != nullptr ? kept_->previous->next : all.first) = kept_->next;
        if (kept_->next != nullptr) { kept_->next->previous = kept_->previous; }
        if (kept_->handle >= 0) { ::close(kept_->handle); }
    }
    kept_.reset();
}

#endif

} // namespace detail
ENTITABLE_END_NAMESPACE
