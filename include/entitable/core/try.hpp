// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `ENTITABLE_TRY` and `ENTITABLE_CHECK`: take the value of a result, or return its error; with variants for coroutines.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/result.hpp>
#include <entitable/core/try_macros.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What the macros return: compilers name this type in a function that returns something else.
class error_for_a_function_that_returns_entitable_result : public failure {
public:
    explicit error_for_a_function_that_returns_entitable_result(failure&& problem) noexcept
        : failure(static_cast<failure&&>(problem)) {}
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
