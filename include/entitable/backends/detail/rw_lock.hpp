// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `rw_lock`: four bytes that admit many readers or one writer. For sections so short that going to sleep and being
/// woken would cost more than waiting awake: the standard's lock loses three quarters of its speed there as soon as a
/// few writers appear.

#include <entitable/core/config.hpp>

#include <atomic>
#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Fair by phases: readers that come while a writer is inside enter together when it leaves, before the next writer;
/// readers that come while a writer waits let it go first, but not for longer than some milliseconds, so that one
/// reader that stays inside does not shut out the others. Not recursive.
class rw_lock {
public:
    rw_lock() = default;
    rw_lock(rw_lock const&) = delete;
    rw_lock& operator=(rw_lock const&) = delete;

    void lock_shared() noexcept {
        std::uint32_t const before = state_.fetch_add(one_reader, std::memory_order_acquire);
        if ((before & (writer_inside | writer_waits)) != 0) {
            wait_as_reader(before);
        }
    }
    /// Touches nothing of the lock afterwards: its owner may be gone by then.
    void unlock_shared() noexcept { state_.fetch_sub(one_reader, std::memory_order_release); }

    void lock() noexcept {
        std::uint32_t nobody = 0;
        if (!state_.compare_exchange_strong(
                nobody, writer_inside, std::memory_order_acquire, std::memory_order_relaxed)) {
            wait_as_writer();
        }
    }
    void unlock() noexcept { state_.fetch_sub(writer_inside, std::memory_order_release); }

private:
    static constexpr std::uint32_t writer_inside = 1;
    static constexpr std::uint32_t writer_waits = 2;
    static constexpr std::uint32_t one_reader = 4;

    void wait_as_reader(std::uint32_t state) noexcept;
    void wait_as_writer() noexcept;

    std::atomic<std::uint32_t> state_{0};
};

/// Holds a lock for reading.
class shared_guard {
public:
    explicit shared_guard(rw_lock& lock) noexcept : lock_(lock) { lock_.lock_shared(); }
    ~shared_guard() { lock_.unlock_shared(); }
    shared_guard(shared_guard const&) = delete;
    shared_guard& operator=(shared_guard const&) = delete;

private:
    rw_lock& lock_;
};

/// Holds a lock for writing.
class exclusive_guard {
public:
    explicit exclusive_guard(rw_lock& lock) noexcept : lock_(lock) { lock_.lock(); }
    ~exclusive_guard() { lock_.unlock(); }
    exclusive_guard(exclusive_guard const&) = delete;
    exclusive_guard& operator=(exclusive_guard const&) = delete;

private:
    rw_lock& lock_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/backends/impl/rw_lock.ipp>
#endif
