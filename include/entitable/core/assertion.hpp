// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `ENTITABLE_ASSERT`: the single handler of invalid access, such as reading the value of a failed result or a row after the last row.

/// Ends the program unless `condition` holds, even in release builds, whether or not NDEBUG is defined. `what` is a `char const*` that
/// describes the misuse; `problem` is an `error const&`: the error of the result, or InvalidInput with advice as its message. `problem` is
/// evaluated only if the condition is false. The default prints both on one line of stderr and calls `std::abort`.
///
/// To replace it, define a macro of this name with three parameters before the first header of the library, for example on the command line
/// of the compiler. The macro must be the same in every file of a program, including the compiled engine. The macro must not return if the
/// condition is false. It may throw: `((condition) ? void() : (problem).raise())` throws the exception that `value()`
/// throws. Such a throw from a `noexcept` function ends the program.
#if !defined(ENTITABLE_ASSERT)
#define ENTITABLE_ASSERT(condition, what, problem) \
    ((condition) ? static_cast<void>(0) : ::entitable::detail::end_program(what, problem))
#endif

#if defined(__GNUC__)
/// Marks a function that is rarely called: it is never inlined, and its calls are moved out of the hot path.
#define ENTITABLE_COLD __attribute__((cold, noinline))
#else
#define ENTITABLE_COLD
#endif

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/error.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Default action of `ENTITABLE_ASSERT`.
ENTITABLE_LAZY [[noreturn]] ENTITABLE_COLD void end_program(char const* what, error const& problem) noexcept;

/// Makes the error for a misuse that has no error of its own: InvalidInput, with advice on what to do instead.
ENTITABLE_LAZY [[nodiscard]] ENTITABLE_COLD error misuse(char const* what_to_do);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/assertion.ipp>
#endif

#endif
