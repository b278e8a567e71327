// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The version, the inline namespace that carries it, and the library's only switch: header-only (the default) or compiled once. In the
/// second form every file defines ENTITABLE_SEPARATE_COMPILATION and exactly one of them includes `entitable/src.hpp`. The switch decides
/// where a function body is compiled and never changes its behaviour.

/// The version of the library: major, minor, patch.
#define ENTITABLE_VERSION_MAJOR 0
/// The second number of the version.
#define ENTITABLE_VERSION_MINOR 1
/// The third number of the version.
#define ENTITABLE_VERSION_PATCH 0

/// The inline namespace of the version. Until 1.0 a new minor version may change the layout of a type, so v0_1 stands for all of 0.1:
/// libraries built with 0.1 and 0.2 can be in one process, and share no functions or types.
#define ENTITABLE_VERSION_NAMESPACE ENTITABLE_VERSION_NAMESPACE_OF(ENTITABLE_VERSION_MAJOR, ENTITABLE_VERSION_MINOR)
/// Expands its two arguments, then makes the name.
#define ENTITABLE_VERSION_NAMESPACE_OF(major, minor) ENTITABLE_VERSION_NAMESPACE_JOINED(major, minor)
/// Makes the name of the inline namespace.
#define ENTITABLE_VERSION_NAMESPACE_JOINED(major, minor) v##major##_##minor

/// Opens `entitable` and the inline namespace of the version.
#define ENTITABLE_BEGIN_NAMESPACE \
    namespace entitable {         \
    inline namespace ENTITABLE_VERSION_NAMESPACE {
/// Closes the namespaces that ENTITABLE_BEGIN_NAMESPACE opens.
#define ENTITABLE_END_NAMESPACE \
    }                           \
    }

#if defined(ENTITABLE_SEPARATE_COMPILATION)
/// Marks a function body: `inline`, unless bodies are compiled once.
#define ENTITABLE_DECL
#else
#define ENTITABLE_DECL inline
#endif

/// Mark the first declaration, and the separate body, of a function that is called only by templates and by other such functions. In the
/// header-only form they make it a template: a file compiles the body when it calls the function, not when it includes the header.
#if defined(ENTITABLE_SEPARATE_COMPILATION)
#define ENTITABLE_LAZY
/// Marks a body that is separate from its declaration; see ENTITABLE_LAZY.
#define ENTITABLE_LAZY_BODY
#else
#define ENTITABLE_LAZY template <class = void>
#define ENTITABLE_LAZY_BODY template <class>
#endif

#if defined(__GNUC__) && !defined(_WIN32)
/// Marks a class whose objects are thrown. libc++ compares the addresses of types, so with -fvisibility=hidden another shared library would
/// not catch it.
#define ENTITABLE_VISIBLE __attribute__((visibility("default")))
#else
#define ENTITABLE_VISIBLE
#endif

#if defined(__clang__)
/// Ends the declaration of a function that must not be called: the compiler reports the text. In a constraint, a call is not valid.
#define ENTITABLE_REFUSED(text) __attribute__((unavailable(text)))
#else
/// Ends the declaration of a function that must not be called: the compiler reports its name and types, which say what to do.
#define ENTITABLE_REFUSED(text) = delete
#endif

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define ENTITABLE_HAS_EXCEPTIONS 1
#else
/// 1 if exceptions are enabled; 0 with -fno-exceptions.
#define ENTITABLE_HAS_EXCEPTIONS 0
#endif

#if defined(__clang__) && __clang_major__ >= 17 && !defined(ENTITABLE_EXPORTED)
ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Complete where the module `entitable` is imported.
struct imported_module;

template <class Module>
concept visible_module = requires { sizeof(Module); };

/// Names the mistake of a header behind an import, which Clang would report as one redefinition for each type.
template <bool Behind>
struct header_behind_import {
    static constexpr bool good = true;
};
template <>
struct [[deprecated("a file either includes headers of entitable or imports its modules")]] header_behind_import<true> {
    static constexpr bool good = false;
};

#pragma clang diagnostic push
#pragma clang diagnostic fatal "-Wdeprecated-declarations"
static_assert(header_behind_import<visible_module<imported_module>>::good,
    "a file either includes headers of entitable or imports its modules");
#pragma clang diagnostic pop

} // namespace detail
ENTITABLE_END_NAMESPACE
#endif
