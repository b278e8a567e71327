// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A second stack: a function that runs on it can be suspended and resumed. Uses `ucontext` if the system has it, otherwise a thread that
/// runs only while the other waits.

#include <entitable/core/error.hpp>

#include <cstddef>

// The thread sanitizer supports only threads.
#if !defined(ENTITABLE_STACKS_ARE_THREADS) && !defined(__SANITIZE_THREAD__) && \
    (defined(__GLIBC__) || defined(__APPLE__) || defined(__FreeBSD__))
#define ENTITABLE_STACKS_ARE_THREADS 0
#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#if defined(__SANITIZE_ADDRESS__)
#define ENTITABLE_TELLS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ENTITABLE_TELLS_SANITIZER 1
#endif
#endif
#if defined(ENTITABLE_TELLS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(_LIBCPP_VERSION)
// The library has this function of the C++ ABI, but <cxxabi.h> does not declare it.
namespace __cxxabiv1 {
extern "C" void* __cxa_get_globals() noexcept;
}
#endif
#else
#if !defined(ENTITABLE_STACKS_ARE_THREADS)
/// Defined if each stack is a thread: on systems without `ucontext`.
#define ENTITABLE_STACKS_ARE_THREADS 1
#endif
#include <condition_variable>
#include <mutex>
#include <thread>
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The function on a stack. It must not throw.
using stack_body = void (*)(void* of);

#if !ENTITABLE_STACKS_ARE_THREADS

/// Must not be moved. When it is destroyed, its function has ended or was never entered. Used by one thread at a time.
class side_stack {
public:
    /// `bytes` are rounded up to pages; a guard page after the end makes an overflow fail.
    side_stack(std::size_t bytes, stack_body run, void* of) noexcept : run_(run), of_(of), bytes_(bytes) {}
    side_stack(side_stack const&) = delete;
    side_stack& operator=(side_stack const&) = delete;
    ~side_stack() {
        if (memory_ != nullptr) { (void)::munmap(memory_, bytes_); }
    }

    /// Allocates the stack, before the first entry. Returns false if there is no memory for it.
    [[nodiscard]] bool allocate() noexcept {
        auto const page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        std::size_t const size = (bytes_ + page - 1) / page * page + page;
        void* const made = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (made == MAP_FAILED) { return false; }
        memory_ = made;
        bytes_ = size;
        // Stacks grow down. The guard page divides the mapping; a process may have only a limited number of mappings.
        return ::mprotect(memory_, page, PROT_NONE) == 0 && ::getcontext(&inside_) == 0 && begin();
    }
    /// Runs until the function leaves (true) or has ended (false).
    bool enter() {
        switch_exceptions();
#if defined(ENTITABLE_TELLS_SANITIZER)
        void* kept = nullptr;
        __sanitizer_start_switch_fiber(&kept, memory_, bytes_);
#endif
        (void)::swapcontext(&outside_, &inside_);
#if defined(ENTITABLE_TELLS_SANITIZER)
        __sanitizer_finish_switch_fiber(kept, nullptr, nullptr);
#endif
        switch_exceptions();
        return !ended_;
    }
    /// Called on the second stack: returns to the caller of `enter`.
    void leave() {
#if defined(ENTITABLE_TELLS_SANITIZER)
        void* kept = nullptr;
        __sanitizer_start_switch_fiber(&kept, around_, around_bytes_);
#endif
        (void)::swapcontext(&inside_, &outside_);
#if defined(ENTITABLE_TELLS_SANITIZER)
        __sanitizer_finish_switch_fiber(kept, &around_, &around_bytes_);
#endif
    }

private:
    bool begin() noexcept {
        inside_.uc_stack.ss_sp = memory_;
        inside_.uc_stack.ss_size = bytes_;
        inside_.uc_link = nullptr;
        auto const self = reinterpret_cast<std::uintptr_t>(this); // makecontext passes numbers of type int
        ::makecontext(&inside_, reinterpret_cast<void (*)()>(&first), 2,
            static_cast<unsigned>(static_cast<std::uint64_t>(self) >> 32U), static_cast<unsigned>(self));
        return true;
    }
    static void first(unsigned high, unsigned low) {
        auto const address = static_cast<std::uintptr_t>(static_cast<std::uint64_t>(high) << 32U | low);
        auto* const self = reinterpret_cast<side_stack*>(address); // NOLINT: makecontext passes only ints
#if defined(ENTITABLE_TELLS_SANITIZER)
        __sanitizer_finish_switch_fiber(nullptr, &self->around_, &self->around_bytes_);
#endif
        self->run_(self->of_);
        self->ended_ = true;
#if defined(ENTITABLE_TELLS_SANITIZER)
        __sanitizer_start_switch_fiber(nullptr, self->around_, self->around_bytes_);
#endif
        (void)::setcontext(&self->outside_);
    }
    /// Switches the thread's state of exceptions being handled, which belongs to a stack.
    void switch_exceptions() noexcept {
        struct known_exceptions {
            void* caught;
            unsigned uncaught;
        };
        static_assert(sizeof(known_exceptions) == sizeof exceptions_);
        auto* const now = reinterpret_cast<unsigned char*>(abi::__cxa_get_globals());
        unsigned char kept[sizeof exceptions_];
        std::memcpy(&kept, now, sizeof kept);
        std::memcpy(now, &exceptions_, sizeof kept);
        std::memcpy(&exceptions_, &kept, sizeof kept);
    }

    stack_body run_;
    void* of_;
    std::size_t bytes_;
    void* memory_{};
    bool ended_{};
    ucontext_t inside_{};
    ucontext_t outside_{};
    unsigned char exceptions_[2 * sizeof(void*)]{};
#if defined(ENTITABLE_TELLS_SANITIZER)
    void const* around_{};
    std::size_t around_bytes_{};
#endif
};

#else

/// The implementation by a thread. The caller of `enter` waits until it leaves, so that only one of the two runs at a time.
class side_stack {
public:
    side_stack(std::size_t, stack_body run, void* of) noexcept : run_(run), of_(of) {}
    side_stack(side_stack const&) = delete;
    side_stack& operator=(side_stack const&) = delete;
    ~side_stack() {
        if (thread_.joinable()) {
            {
                std::lock_guard const guard{lock_};
                unused_ = true;
                changed_.notify_all();
            }
            thread_.join();
        }
    }

    /// Starts the thread, before the first entry. Returns false if the system has no thread left.
    [[nodiscard]] bool allocate() noexcept {
        auto const runs = [this] {
            {
                std::unique_lock guard{lock_};
                changed_.wait(guard, [&] { return inside_ || unused_; });
                if (!inside_) { return; }
            }
            run_(of_);
            std::lock_guard const at_end{lock_};
            ended_ = true;
            inside_ = false;
            changed_.notify_all();
        };
#if ENTITABLE_HAS_EXCEPTIONS
        try {
            thread_ = std::thread{runs};
        } catch (...) { return false; }
#else
        thread_ = std::thread{runs};
#endif
        return true;
    }
    bool enter() {
        std::unique_lock guard{lock_};
        inside_ = true;
        changed_.notify_all();
        changed_.wait(guard, [&] { return !inside_; });
        return !ended_;
    }
    void leave() {
        std::unique_lock guard{lock_};
        inside_ = false;
        changed_.notify_all();
        changed_.wait(guard, [&] { return inside_; });
    }

private:
    stack_body run_;
    void* of_;
    std::mutex lock_;
    std::condition_variable changed_;
    bool inside_{};
    bool ended_{};
    bool unused_{}; ///< the stack is destroyed and was never entered
    std::thread thread_;
};

#endif

} // namespace detail
ENTITABLE_END_NAMESPACE
