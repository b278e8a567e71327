// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/backoff.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY std::chrono::nanoseconds backoff::delay(std::uint64_t repetition, double random) const noexcept {
    auto const longest = static_cast<double>(most.count());
    double const factor = 1 - jitter + 2 * jitter * random;
    double const steps = repetition < 62 ? static_cast<double>((std::uint64_t{1} << repetition) - 1) : 0x1p62;
    double const wanted = static_cast<double>(least.count()) + static_cast<double>(base.count()) * factor * steps;
    if (wanted < longest) { return std::chrono::nanoseconds{static_cast<std::int64_t>(wanted)}; }
    return jitter_at_cap ? std::chrono::nanoseconds{static_cast<std::int64_t>(longest * (1 - jitter * random))} : most;
}

ENTITABLE_LAZY_BODY result<void> backoff::validate() const {
    constexpr std::chrono::nanoseconds zero{};
    char const* const wrong = base < zero ? "the base of the back-off must not be negative"
        : least < zero                    ? "the shortest wait of the back-off must not be negative"
        : most < least                    ? "the longest wait of the back-off must not be less than the shortest"
        : most > std::chrono::hours{24}   ? "the longest wait of the back-off must be at most a day"
        : most < base                     ? "the longest wait of the back-off must not be less than its base"
        : !(jitter >= 0 && jitter <= 1)   ? "the jitter of the back-off must be between 0 and 1"
                                          : nullptr;
    if (wrong != nullptr) { return failure{error_code::out_of_range_input, wrong}; }
    return {};
}

ENTITABLE_END_NAMESPACE
