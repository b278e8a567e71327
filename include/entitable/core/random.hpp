// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `random_source`: numbers for back-off and names, from a seed. On one thread the same seed gives the same numbers.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/atomic.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE

/// A sequence of random numbers; not for secrets. Thread safety: safe to use from several threads.
class random_source {
public:
    explicit random_source(std::uint64_t seed) noexcept : state_(seed) {} ///< the same seed gives the same numbers

    /// SplitMix64, G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators" (2014).
    [[nodiscard]] std::uint64_t bits() noexcept {
        std::uint64_t number = state_.fetch_add(0x9E3779B97F4A7C15U, memory_order::relaxed) + 0x9E3779B97F4A7C15U;
        number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9U;
        number = (number ^ (number >> 27U)) * 0x94D049BB133111EBU;
        return number ^ (number >> 31U);
    }
    /// Returns a number of at least 0 and less than 1.
    [[nodiscard]] double unit() noexcept { return static_cast<double>(bits() >> 11U) * 0x1p-53; }

private:
    atomic<std::uint64_t> state_;
};

ENTITABLE_END_NAMESPACE

#endif
