// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How a row is read whose properties are not exactly those of the entity.

#include <entitable/core/config.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE

/// What to make of a property that the entity does not declare, and of one that it declares and the row lacks. A property of another
/// type than the member is refused in each mode; an Int32 fits a std::int64_t.
enum class reading : std::uint8_t {
    standard, ///< ignores extra properties; refuses a missing one unless the member is an optional
    strict,   ///< refuses both
    lenient,  ///< ignores extra properties; a missing one leaves the member as a default-constructed entity has it
};

ENTITABLE_END_NAMESPACE
