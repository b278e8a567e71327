// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `backoff`: the delays between retries, as a value.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/chrono.hpp>
#include <entitable/core/result.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE

/// Exponential back-off with jitter. Before retry x, counted from 1, the wait is
///
///     min(least + base * f * (2^x - 1), most),    f drawn from [1 - jitter, 1 + jitter]
///
/// For a constant wait set `least` and `most` to it and leave `base` 0.
struct backoff {
    std::chrono::nanoseconds base{};  ///< doubles with each retry
    std::chrono::nanoseconds least{}; ///< shortest wait; added to every wait
    std::chrono::nanoseconds most{};  ///< longest wait; at most a day
    double jitter{0.2};               ///< 0 to 1
    /// Whether a wait that reaches `most` is drawn from [most * (1 - jitter), most]. Without it, clients that reach `most` retry at the
    /// same time.
    bool jitter_at_cap{};

    /// Returns the wait before a retry. `random`: at least 0, less than 1.
    ENTITABLE_LAZY [[nodiscard]] std::chrono::nanoseconds delay(std::uint64_t repetition, double random) const noexcept;
    /// Errors: OutOfRangeInput names the member that is negative, too large, or NaN.
    ENTITABLE_LAZY [[nodiscard]] result<void> validate() const;

    friend bool operator==(backoff const&, backoff const&) = default;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/backoff.ipp>
#endif

#endif
