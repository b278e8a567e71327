// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How to read a row whose properties differ from those of the entity.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE

/// Treatment of properties that the entity does not declare, and of declared properties that the row does not have. A property whose type
/// differs from the member's is refused in each mode; an Int32 fits a std::int64_t.
enum class reading : std::uint8_t {
    standard, ///< ignores extra properties; refuses a missing property unless the member is an optional
    strict,   ///< refuses extra and missing properties
    lenient,  ///< ignores extra properties; a missing property leaves the member at its default value
};

ENTITABLE_END_NAMESPACE

#endif
