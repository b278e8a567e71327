// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `retry_policy`: number and delays of retries, as a value.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/backoff.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The number and the delays of retries. If the service requests a longer delay ("Retry-After"), that delay is used.
struct retry_policy {
    /// Upper limit of `max_attempts`.
    static constexpr std::int64_t most_attempts = 1'000'000;

    std::int64_t max_attempts{1}; ///< number of attempts, including the first; 1 to `most_attempts`
    backoff delays{};             ///< the waits between attempts
    std::chrono::nanoseconds longest_wish{std::chrono::minutes{2}}; ///< a longer Retry-After is reduced to this

    /// One attempt, no retries.
    [[nodiscard]] static constexpr retry_policy none() noexcept { return {}; }
    /// The same delay before each retry.
    [[nodiscard]] static constexpr retry_policy fixed(
        std::int64_t max_attempts, std::chrono::nanoseconds wait) noexcept {
        return {max_attempts, {.least = wait, .most = wait}};
    }
    /// Exponential back-off: see `backoff`.
    [[nodiscard]] static constexpr retry_policy exponential(std::int64_t max_attempts, std::chrono::nanoseconds base,
        std::chrono::nanoseconds least, std::chrono::nanoseconds most) noexcept {
        return {max_attempts, {.base = base, .least = least, .most = most}};
    }
    /// The default of backends in the cloud: 4 attempts, base 250 ms, from 50 ms to 5 s, about 3 s in total.
    [[nodiscard]] static constexpr retry_policy standard() noexcept {
        using std::chrono::milliseconds;
        return exponential(4, milliseconds{250}, milliseconds{50}, milliseconds{5'000});
    }
    /// Suits background work: survives minutes of failures. 4 attempts, base 30 s, from 3 s to 90 s.
    [[nodiscard]] static constexpr retry_policy patient() noexcept {
        using std::chrono::seconds;
        return exponential(4, seconds{30}, seconds{3}, seconds{90});
    }
    /// Suits interactive use: survives the move of a partition to another server. 6 attempts, base 50 ms, from 10 ms to 2 s, about 3 s in
    /// total.
    [[nodiscard]] static constexpr retry_policy interactive() noexcept {
        using std::chrono::milliseconds;
        retry_policy made = exponential(6, milliseconds{50}, milliseconds{10}, milliseconds{2'000});
        made.delays.jitter_at_cap = true;
        return made;
    }

    /// Errors: OutOfRangeInput names the member that is out of range.
    ENTITABLE_LAZY [[nodiscard]] result<void> validate() const {
        if (max_attempts < 1 || max_attempts > most_attempts) {
            return failure{
                error_code::out_of_range_input, "the attempts of the retry policy must be between 1 and 1000000"};
        }
        if (longest_wish < std::chrono::nanoseconds{} || longest_wish > std::chrono::hours{24}) {
            return failure{error_code::out_of_range_input,
                "the longest Retry-After of the retry policy must be between 0 and a day"};
        }
        return delays.validate();
    }

    friend bool operator==(retry_policy const&, retry_policy const&) = default;
};

ENTITABLE_END_NAMESPACE

#endif
