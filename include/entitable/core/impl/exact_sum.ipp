// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/exact_sum.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY double exact_sum::mean_of(std::uint64_t count) const noexcept {
    bool const negative = high_ >> 63U != 0;
    std::uint64_t const low = negative ? 0 - low_ : low_;
    std::uint64_t const high = negative ? ~high_ + (low_ == 0 ? 1U : 0U) : high_;
    // Long division of the magnitude, bit by bit. The quotient is the magnitude of a mean of 64-bit integers, at most 2^63.
    std::uint64_t quotient = 0;
    std::uint64_t rest = 0; // smaller than `count`, so that its double fits
    auto const next_bit = [&](std::uint64_t bit) {
        rest = rest << 1U | bit;
        bool const fits = rest >= count;
        rest -= fits ? count : 0;
        quotient = quotient << 1U | (fits ? 1U : 0U);
    };
    for (unsigned bit = 128; bit > 0; --bit) { next_bit(bit > 64 ? high >> (bit - 65) & 1U : low >> (bit - 1) & 1U); }
    // A double has 53 bits. The quotient gets 56 or more, and its last bit stands for the whole remainder, so that the conversion rounds
    // once.
    double scale = 1;
    while (rest != 0 && quotient >> 55U == 0) {
        next_bit(0);
        scale /= 2;
    }
    quotient |= rest != 0 ? 1U : 0U;
    double const magnitude = static_cast<double>(quotient) * scale;
    return negative ? -magnitude : magnitude;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
