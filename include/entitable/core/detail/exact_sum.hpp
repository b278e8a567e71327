// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The exact sum of many integers, and their mean.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Adds integers in 128 bits, as two's complement: fewer than 2^64 integers always fit.
class exact_sum {
public:
    void add(std::int64_t more) noexcept {
        auto const bits = static_cast<std::uint64_t>(more);
        low_ += bits;
        high_ += (more < 0 ? ~std::uint64_t{0} : 0) + (low_ < bits ? 1U : 0U);
    }
    /// Returns the sum divided by `count`, rounded once, to the nearest double. `count`: number of integers, from 1 to 2^63.
    ENTITABLE_LAZY [[nodiscard]] double mean_of(std::uint64_t count) const noexcept;

private:
    std::uint64_t low_{};
    std::uint64_t high_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/exact_sum.ipp>
#endif

#endif
