// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `atomic<T>`: the part of std::atomic that this library uses, for integers, pointers and bool. `<atomic>` includes waiting, which costs a
/// tenth of the compile time of a file that uses the core. If the compiler has the operations built in, they are used directly.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#if !defined(__GNUC__)
#include <atomic>
#endif

ENTITABLE_BEGIN_NAMESPACE

/// Order of an atomic operation relative to others, as in the C++ memory model.
enum class memory_order : int {
#if defined(__GNUC__)
    relaxed = __ATOMIC_RELAXED, ///< no ordering
    acquire = __ATOMIC_ACQUIRE, ///< later accesses stay after the load
    release = __ATOMIC_RELEASE, ///< earlier accesses stay before the store
    acq_rel = __ATOMIC_ACQ_REL, ///< acquire and release
#else
    relaxed = static_cast<int>(std::memory_order_relaxed),
    acquire = static_cast<int>(std::memory_order_acquire),
    release = static_cast<int>(std::memory_order_release),
    acq_rel = static_cast<int>(std::memory_order_acq_rel),
#endif
};

/// A value that several threads may read and change.
template <class T>
class atomic {
public:
    constexpr atomic() noexcept = default;
    /// Initializes the value.
    constexpr atomic(T value) noexcept : value_(value) {} // NOLINT: as std::atomic
    atomic(atomic const&) = delete;
    atomic& operator=(atomic const&) = delete;

#if defined(__GNUC__)
    /// Returns the value.
    [[nodiscard]] T load(memory_order order) const noexcept {
        return __atomic_load_n(&value_, static_cast<int>(order));
    }
    /// Replaces the value.
    void store(T value, memory_order order) noexcept { __atomic_store_n(&value_, value, static_cast<int>(order)); }
    /// Replaces the value and returns the old value.
    T exchange(T value, memory_order order) noexcept {
        return __atomic_exchange_n(&value_, value, static_cast<int>(order));
    }
    /// Adds and returns the old value.
    T fetch_add(T value, memory_order order) noexcept {
        return __atomic_fetch_add(&value_, value, static_cast<int>(order));
    }
    /// Subtracts and returns the old value.
    T fetch_sub(T value, memory_order order) noexcept {
        return __atomic_fetch_sub(&value_, value, static_cast<int>(order));
    }
    /// Sets bits and returns the old value.
    T fetch_or(T value, memory_order order) noexcept {
        return __atomic_fetch_or(&value_, value, static_cast<int>(order));
    }
    /// Clears all bits that are not set in `value` and returns the old value.
    T fetch_and(T value, memory_order order) noexcept {
        return __atomic_fetch_and(&value_, value, static_cast<int>(order));
    }
    /// Stores `desired` if the value is `expected`; may fail spuriously. On failure, `expected` receives the current value and the order is
    /// `failed`.
    bool compare_exchange_weak(T& expected, T desired, memory_order order, memory_order failed) noexcept {
        return __atomic_compare_exchange_n(
            &value_, &expected, desired, true, static_cast<int>(order), static_cast<int>(failed));
    }
    /// Like `compare_exchange_weak`, but fails only if the value differs from `expected`.
    bool compare_exchange_strong(T& expected, T desired, memory_order order, memory_order failed) noexcept {
        return __atomic_compare_exchange_n(
            &value_, &expected, desired, false, static_cast<int>(order), static_cast<int>(failed));
    }

private:
    T value_{};
#else
    [[nodiscard]] T load(memory_order order) const noexcept { return value_.load(as_std(order)); }
    void store(T value, memory_order order) noexcept { value_.store(value, as_std(order)); }
    T exchange(T value, memory_order order) noexcept { return value_.exchange(value, as_std(order)); }
    T fetch_add(T value, memory_order order) noexcept { return value_.fetch_add(value, as_std(order)); }
    T fetch_sub(T value, memory_order order) noexcept { return value_.fetch_sub(value, as_std(order)); }
    T fetch_or(T value, memory_order order) noexcept { return value_.fetch_or(value, as_std(order)); }
    T fetch_and(T value, memory_order order) noexcept { return value_.fetch_and(value, as_std(order)); }
    bool compare_exchange_weak(T& expected, T desired, memory_order order, memory_order failed) noexcept {
        return value_.compare_exchange_weak(expected, desired, as_std(order), as_std(failed));
    }
    bool compare_exchange_strong(T& expected, T desired, memory_order order, memory_order failed) noexcept {
        return value_.compare_exchange_strong(expected, desired, as_std(order), as_std(failed));
    }

private:
    static constexpr std::memory_order as_std(memory_order order) noexcept {
        return static_cast<std::memory_order>(order);
    }
    std::atomic<T> value_{};
#endif
};

ENTITABLE_END_NAMESPACE

#endif
