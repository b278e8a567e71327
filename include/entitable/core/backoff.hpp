// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `backoff`: how long to wait before a repetition, as a value.

#include <entitable/core/chrono.hpp>
#include <entitable/core/result.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE

/// Exponential back-off with jitter. Before repetition x, from 1, the wait is
///
///     min(least + base * f * (2^x - 1), most),    f drawn from [1 - jitter, 1 + jitter]
///
/// A constant wait has base 0 and the wait as `least` and `most`.
struct backoff {
    std::chrono::nanoseconds base{};  ///< grows with the repetitions
    std::chrono::nanoseconds least{}; ///< added to every wait
    std::chrono::nanoseconds most{};  ///< no wait is longer, but for the jitter
    double jitter{0.2};               ///< 0 to 1
    /// Whether a wait that has reached `most` is drawn from [most * (1 - jitter), most]. Otherwise clients that have reached it
    /// go on in step.
    bool jitter_at_cap{};

    /// `random` from 0 to less than 1.
    ENTITABLE_LAZY [[nodiscard]] std::chrono::nanoseconds delay(std::uint64_t repetition, double random) const noexcept;
    /// OutOfRangeInput names what is negative, greater than it may be, or no number.
    ENTITABLE_LAZY [[nodiscard]] result<void> validate() const;

    friend bool operator==(backoff const&, backoff const&) = default;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/backoff.ipp>
#endif
