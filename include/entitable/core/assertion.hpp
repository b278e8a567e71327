// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `ENTITABLE_ASSERT`: the one handler of programs that read what is not there, such as the value of a result that is an error, or a row
/// after the last one.

#include <entitable/core/error.hpp>

/// Ends the program unless `condition` holds, in release builds too, whether or not NDEBUG is defined. `what` is a `char const*` that says
/// what the program did; `problem` is an `error const&`: that of the result, or InvalidInput with a message that says what to do. It is
/// evaluated only where the condition does not hold. The default prints both on one line of stderr and calls `std::abort`.
///
/// To replace it, define a macro of this name with three parameters before the first header of the library, for example as a
/// definition of the compiler. It has to be the same in every file of a program, the compiled engine included. It must not return where the
/// condition does not hold. It may throw: `((condition) ? void() : (problem).raise())` throws what `value()` throws. Functions
/// that are `noexcept` end the program then.
#if !defined(ENTITABLE_ASSERT)
#define ENTITABLE_ASSERT(condition, what, problem) \
    ((condition) ? static_cast<void>(0) : ::entitable::detail::end_program(what, problem))
#endif

#if defined(__GNUC__)
/// Marks a function that is hardly ever called: it is never inlined, and calls of it are moved out of the way.
#define ENTITABLE_COLD __attribute__((cold, noinline))
#else
#define ENTITABLE_COLD
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What `ENTITABLE_ASSERT` does where it is not replaced.
ENTITABLE_LAZY [[noreturn]] ENTITABLE_COLD void end_program(char const* what, error const& problem) noexcept;

/// What a program did that has no error of its own: InvalidInput, with what to do instead.
ENTITABLE_LAZY [[nodiscard]] ENTITABLE_COLD error misuse(char const* what_to_do);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/assertion.ipp>
#endif
