// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The macros of `try.hpp` without the types that their expansions name.

/// `ENTITABLE_TRY(auto found, orders.get("ann", 7));` declares `found` with the value of a result, or returns its error from the function,
/// which returns a `result` of any type. The expression may contain commas without parentheses. The declaration may not, so it cannot be a
/// structured binding.
#define ENTITABLE_TRY(declaration, ...) \
    ENTITABLE_TRY_INTO(ENTITABLE_TRY_NAME(entitable_tried_, __COUNTER__), declaration, (__VA_ARGS__))

/// `ENTITABLE_CHECK(orders.insert(made));` returns the error of a result that has no value.
#define ENTITABLE_CHECK(...) ENTITABLE_CHECK_IN(ENTITABLE_TRY_NAME(entitable_tried_, __COUNTER__), (__VA_ARGS__))

/// `ENTITABLE_CO_TRY(auto found, co_await orders.get("ann", 7));` in a coroutine: as `ENTITABLE_TRY`, with `co_return`.
#define ENTITABLE_CO_TRY(declaration, ...) \
    ENTITABLE_CO_TRY_INTO(ENTITABLE_TRY_NAME(entitable_tried_, __COUNTER__), declaration, (__VA_ARGS__))

/// `ENTITABLE_CO_CHECK(co_await orders.insert(made));` in a coroutine: as `ENTITABLE_CHECK`, with `co_return`.
#define ENTITABLE_CO_CHECK(...) ENTITABLE_CO_CHECK_IN(ENTITABLE_TRY_NAME(entitable_tried_, __COUNTER__), (__VA_ARGS__))

/// \cond
#define ENTITABLE_CO_TRY_INTO(name, declaration, expression)                          \
    auto name = expression; /* NOLINT: a copy of what is still there, else no copy */ \
    if (!name) { co_return ENTITABLE_TRY_ERROR(name); }                               \
    declaration = *::std::move(name)
#define ENTITABLE_CO_CHECK_IN(name, expression)                                     \
    do {                                                                            \
        if (auto name = expression; !name) { co_return ENTITABLE_TRY_ERROR(name); } \
    } while (false)
#define ENTITABLE_TRY_INTO(name, declaration, expression)                             \
    auto name = expression; /* NOLINT: a copy of what is still there, else no copy */ \
    if (!name) { return ENTITABLE_TRY_ERROR(name); }                                  \
    declaration = *::std::move(name)
#define ENTITABLE_CHECK_IN(name, expression)                                     \
    do {                                                                         \
        if (auto name = expression; !name) { return ENTITABLE_TRY_ERROR(name); } \
    } while (false)
#define ENTITABLE_TRY_ERROR(name) \
    (::entitable::detail::error_for_a_function_that_returns_entitable_result{::std::move(name).as_failure()})
#define ENTITABLE_TRY_JOINED(name, number) name##number
#define ENTITABLE_TRY_NAME(name, number) ENTITABLE_TRY_JOINED(name, number)
/// \endcond
