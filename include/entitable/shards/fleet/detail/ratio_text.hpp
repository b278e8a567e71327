// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Formats ratios and sizes as readable text.

#include <entitable/core/text.hpp>

#include <cstdint>
#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Formats a ratio with three decimals; whole numbers without decimals.
inline std::string text_of_ratio(double ratio) {
    auto const thousandths = static_cast<std::uint64_t>(ratio * 1000 + 0.5); // NOLINT: never negative
    if (thousandths % 1000 == 0) { return std::to_string(thousandths / 1000); }
    std::string out = std::to_string(thousandths / 1000) + '.';
    text::append_decimal(out, thousandths % 1000, 3);
    return out;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
