// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A second stack: a function that runs on it can be suspended and resumed. Switches stacks by itself on x86-64, because `ucontext` makes a
/// system call for each switch. Elsewhere it uses `ucontext` if the system has it, otherwise a thread that runs only while the other waits.

#if !defined(ENTITABLE_IMPORTED)
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
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__x86_64__) && defined(__LP64__) && (defined(__GNUC__) || defined(__clang__)) && \
    !defined(ENTITABLE_STACKS_ARE_CONTEXTS)
#define ENTITABLE_STACKS_SWITCH_REGISTERS 1
#else
#define ENTITABLE_STACKS_SWITCH_REGISTERS 0
#endif
#include <memory>
#include <new>
#include <vector>
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

/// Stacks that are used again: mappings of whole pages with a guard page below each. Keeps a few of one size. Used by one thread at a time.
class stack_pool {
public:
    struct block {
        void* memory{};
        std::size_t bytes{};
    };

    stack_pool() = default;
    stack_pool(stack_pool const&) = delete;
    stack_pool& operator=(stack_pool const&) = delete;
    ~stack_pool() {
        for (block const& each : idle_) { (void)::munmap(each.memory, each.bytes); }
    }

    /// Returns a stack of at least this size; a block without memory if the system has none left, or no mapping for the guard page.
    [[nodiscard]] block take(std::size_t usable) noexcept {
        auto const page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        std::size_t const bytes = (usable + page - 1) / page * page + page;
        if (!idle_.empty() && idle_.back().bytes == bytes) {
            block const used = idle_.back();
            idle_.pop_back();
#if defined(ENTITABLE_TELLS_SANITIZER)
            __asan_unpoison_memory_region(static_cast<unsigned char*>(used.memory) + page, used.bytes - page);
#endif
            return used;
        }
        void* const made = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (made == MAP_FAILED) { return {}; }
        // Stacks grow down. The guard page divides the mapping; a process may have only a limited number of mappings.
        if (::mprotect(made, page, PROT_NONE) != 0) {
            (void)::munmap(made, bytes);
            return {};
        }
        return {made, bytes};
    }
    void give_back(block const& used) noexcept {
        constexpr std::size_t kept = 256;
        if (idle_.empty()) {
#if ENTITABLE_HAS_EXCEPTIONS
            try {
                idle_.reserve(kept);
            } catch (...) { // NOLINT: the stack is unmapped
            }
#else
            idle_.reserve(kept);
#endif
        }
        if (idle_.size() < idle_.capacity() && (idle_.empty() || idle_.back().bytes == used.bytes)) {
            idle_.push_back(used);
        } else {
            (void)::munmap(used.memory, used.bytes);
        }
    }

private:
    std::vector<block> idle_;
};

#if ENTITABLE_STACKS_SWITCH_REGISTERS
/// Keeps the registers of the running code in its stack, whose top goes to `left`, and resumes the code whose stack has the top `entered`. A
/// function that is entered for the first time gets `of`. The compiler saves all registers that it uses, because the statement changes
/// them; the modes of rounding are saved here, as `ucontext` does. The red zone below the stack pointer is skipped. Only a call may be at this place, so the x87 registers are empty.
[[gnu::noinline]] inline void switch_registers(void* of, void** left, void* entered) noexcept {
    asm volatile("leaq -128(%%rsp), %%rsp\n\t"
                 "pushq %%rbp\n\t"
                 "leaq -8(%%rsp), %%rsp\n\t"
                 "stmxcsr (%%rsp)\n\t"
                 "fnstcw 4(%%rsp)\n\t"
                 "leaq 1f(%%rip), %%rax\n\t"
                 "pushq %%rax\n\t"
                 "movq %%rsp, (%%rsi)\n\t"
                 "movq %%rdx, %%rsp\n\t"
                 "popq %%rax\n\t"
                 "jmp *%%rax\n\t"
                 "1:\n\t"
                 "endbr64\n\t"
                 "ldmxcsr (%%rsp)\n\t"
                 "fldcw 4(%%rsp)\n\t"
                 "leaq 8(%%rsp), %%rsp\n\t"
                 "popq %%rbp\n\t"
                 "leaq 128(%%rsp), %%rsp"
        : "+D"(of), "+S"(left), "+d"(entered)
        :
        : "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
#if defined(__AVX512F__)
        "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",
        "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
#endif
        "memory", "cc");
}
/// Whether the processor keeps return addresses a second time, on a stack that only `ucontext` switches.
inline bool has_shadow_stack() noexcept {
    void* top = nullptr;
    asm volatile("rdsspq %0" : "+r"(top)); // does nothing if there is none
    return top != nullptr;
}
#endif

/// Must not be moved. When it is destroyed, its function has ended or was never entered. Used by one thread at a time.
class side_stack {
public:
    /// `bytes` are rounded up to pages; a guard page after the end makes an overflow fail. The pool must outlive the stack.
    side_stack(stack_pool& pool, std::size_t bytes, stack_body run, void* of) noexcept
        : pool_(pool), run_(run), of_(of), bytes_(bytes) {}
    side_stack(side_stack const&) = delete;
    side_stack& operator=(side_stack const&) = delete;
    ~side_stack() {
        if (memory_ != nullptr) { pool_.give_back({memory_, bytes_}); }
    }

    /// Allocates the stack, before the first entry. Returns false if there is no memory for it.
    [[nodiscard]] bool allocate() noexcept {
        auto const taken = pool_.take(bytes_);
        if (taken.memory == nullptr) { return false; }
        memory_ = taken.memory;
        bytes_ = taken.bytes;
        return begin();
    }
    /// Runs until the function leaves (true) or has ended (false).
    bool enter() {
        switch_exceptions();
#if defined(ENTITABLE_TELLS_SANITIZER)
        void* kept = nullptr;
        __sanitizer_start_switch_fiber(&kept, memory_, bytes_);
#endif
        go_in();
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
        go_out();
#if defined(ENTITABLE_TELLS_SANITIZER)
        __sanitizer_finish_switch_fiber(kept, &around_, &around_bytes_);
#endif
    }

private:
    struct contexts {
        ucontext_t inside{};
        ucontext_t outside{};
    };
    bool begin() noexcept {
#if ENTITABLE_STACKS_SWITCH_REGISTERS
        if (!has_shadow_stack()) {
            // The address at which the code begins, and the address to which it would return. At the beginning of a function the stack pointer
            // is 8 bytes below a multiple of 16.
            auto* const top = reinterpret_cast<void**>(static_cast<unsigned char*>(memory_) + bytes_ - 16);
            top[0] = reinterpret_cast<void*>(&begun); // NOLINT: an address of code
            top[1] = nullptr;
            inside_ = top;
            return true;
        }
#endif
        contexts_.reset(new (std::nothrow) contexts);
        if (contexts_ == nullptr || ::getcontext(&contexts_->inside) != 0) { return false; }
        contexts_->inside.uc_stack.ss_sp = memory_;
        contexts_->inside.uc_stack.ss_size = bytes_;
        contexts_->inside.uc_link = nullptr;
        auto const self = reinterpret_cast<std::uintptr_t>(this); // makecontext passes numbers of type int
        ::makecontext(&contexts_->inside, reinterpret_cast<void (*)()>(&first), 2,
            static_cast<unsigned>(static_cast<std::uint64_t>(self) >> 32U), static_cast<unsigned>(self));
        return true;
    }
    void go_in() {
#if ENTITABLE_STACKS_SWITCH_REGISTERS
        if (contexts_ == nullptr) { return switch_registers(this, &outside_, inside_); }
#endif
        (void)::swapcontext(&contexts_->outside, &contexts_->inside);
    }
    void go_out() {
#if ENTITABLE_STACKS_SWITCH_REGISTERS
        if (contexts_ == nullptr) { return switch_registers(this, &inside_, outside_); }
#endif
        (void)::swapcontext(&contexts_->inside, &contexts_->outside);
    }
    static void first(unsigned high, unsigned low) {
        auto const address = static_cast<std::uintptr_t>(static_cast<std::uint64_t>(high) << 32U | low);
        begun(reinterpret_cast<side_stack*>(address)); // NOLINT: makecontext passes only ints
    }
    /// Is not left: the last switch does not return.
    static void begun(side_stack* self) {
#if defined(ENTITABLE_TELLS_SANITIZER)
        __sanitizer_finish_switch_fiber(nullptr, &self->around_, &self->around_bytes_);
#endif
        self->run_(self->of_);
        self->ended_ = true;
#if defined(ENTITABLE_TELLS_SANITIZER)
        __sanitizer_start_switch_fiber(nullptr, self->around_, self->around_bytes_);
#endif
        self->go_out();
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

    stack_pool& pool_;
    stack_body run_;
    void* of_;
    std::size_t bytes_;
    void* memory_{};
    bool ended_{};
#if ENTITABLE_STACKS_SWITCH_REGISTERS
    void* inside_{};
    void* outside_{};
#endif
    std::unique_ptr<contexts> contexts_; ///< null if registers are switched without them
    unsigned char exceptions_[2 * sizeof(void*)]{};
#if defined(ENTITABLE_TELLS_SANITIZER)
    void const* around_{};
    std::size_t around_bytes_{};
#endif
};

#else

/// Stacks of threads belong to the system.
class stack_pool {};

/// The implementation by a thread. The caller of `enter` waits until it leaves, so that only one of the two runs at a time.
class side_stack {
public:
    side_stack(stack_pool&, std::size_t, stack_body run, void* of) noexcept : run_(run), of_(of) {}
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

#endif
