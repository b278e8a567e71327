// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `rw_lock`: a lock of one word for many readers or one writer, which can also count the owners of the object that it guards. For sections
/// so short that sleeping and waking would cost more than spinning: with only a few writers, the standard library's lock loses three
/// quarters of its speed there.

#include <entitable/core/atomic.hpp>
#include <entitable/core/config.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A writer first excludes other writers, then readers: in one step, or in two steps if it reads for a while before it writes.
///
/// Fair by phases: readers that arrive while other readers hold the lock enter together afterwards, before the next writer; readers that
/// arrive while a writer waits for readers to leave let the writer go first, but only for some milliseconds, so that one long reader does
/// not block the others. Not recursive.
class rw_lock {
public:
    rw_lock() = default;
    rw_lock(rw_lock const&) = delete;
    rw_lock& operator=(rw_lock const&) = delete;

    void lock_shared() noexcept { wait_shared(state_.fetch_add(one_reader, memory_order::acquire)); }
    /// Does not access the lock afterwards, because its owner may be destroyed by then.
    void unlock_shared() noexcept { state_.fetch_sub(one_reader, memory_order::release); }

    void lock() noexcept {
        std::uint64_t state = state_.load(memory_order::relaxed);
        if ((state & ~owners) != 0 ||
            !state_.compare_exchange_strong(
                state, state | writers_out | readers_out, memory_order::acquire, memory_order::relaxed)) {
            shut_out_writers();
            shut_out_readers();
        }
    }
    void unlock() noexcept { state_.fetch_sub(writers_out | readers_out, memory_order::release); }

    /// Does the first step of `lock`.
    void shut_out_writers() noexcept {
        if (!try_shut_out_writers(0)) { wait_for_writer(); }
    }
    /// Does the second step of `lock`.
    void shut_out_readers() noexcept {
        std::uint64_t state = state_.load(memory_order::relaxed);
        if ((state & readers) != 0 ||
            !state_.compare_exchange_strong(state, state | readers_out, memory_order::acquire, memory_order::relaxed)) {
            wait_for_readers();
        }
    }

    // These functions count owners; some of them own and lock in one step. Readers and writers of a partition call them under the lock of
    // the place where they found the partition, so the functions must not wait.

    void own() noexcept { state_.fetch_add(one_owner, memory_order::relaxed); }
    /// Returns whether that was the last owner.
    [[nodiscard]] bool disown() noexcept { return last(state_.fetch_sub(one_owner, memory_order::acq_rel)); }

    /// Calls `own` and begins `lock_shared`; pass the result to `wait_shared`, which completes the lock.
    [[nodiscard]] std::uint64_t own_shared() noexcept {
        return state_.fetch_add(one_owner + one_reader, memory_order::acquire);
    }
    void wait_shared(std::uint64_t before) noexcept {
        if ((before & (readers_out | readers_give_way)) != 0) { wait_as_reader(before); }
    }
    [[nodiscard]] bool disown_shared() noexcept {
        return last(state_.fetch_sub(one_owner + one_reader, memory_order::acq_rel));
    }

    /// Calls `own`, and also `shut_out_writers` if that need not wait; returns whether writers are shut out.
    [[nodiscard]] bool own_and_try_shut_out_writers() noexcept {
        if (try_shut_out_writers(one_owner)) { return true; }
        own();
        return false;
    }
    [[nodiscard]] bool disown_and_unlock(bool readers_are_out) noexcept {
        std::uint64_t const held = one_owner + writers_out + (readers_are_out ? readers_out : 0);
        return last(state_.fetch_sub(held, memory_order::acq_rel));
    }

private:
    static constexpr std::uint64_t writers_out = 1;
    static constexpr std::uint64_t readers_out = 2;
    static constexpr std::uint64_t readers_give_way = 4;
    static constexpr std::uint64_t one_reader = 8;
    static constexpr std::uint64_t one_owner = std::uint64_t{1} << 32U;
    static constexpr std::uint64_t owners = ~(one_owner - 1);
    static constexpr std::uint64_t readers = ~owners & ~(one_reader - 1);

    [[nodiscard]] bool try_shut_out_writers(std::uint64_t more_owners) noexcept {
        std::uint64_t state = state_.load(memory_order::relaxed);
        while ((state & writers_out) == 0) {
            if (state_.compare_exchange_weak(
                    state, (state | writers_out) + more_owners, memory_order::acquire, memory_order::relaxed)) {
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] static bool last(std::uint64_t before) noexcept { return (before & owners) == one_owner; }
    void wait_as_reader(std::uint64_t state) noexcept;
    void wait_for_writer() noexcept;
    void wait_for_readers() noexcept;

    atomic<std::uint64_t> state_{0};
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
#include <entitable/local/impl/rw_lock.ipp>
#endif
