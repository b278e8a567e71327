// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// ENTITABLE_STORE_KINDS, the macro of `open.hpp`, without the types that its expansion names.

/// Lists the kinds of stores that `open(address)` opens, in exactly one file of the program, outside all namespaces:
/// `ENTITABLE_STORE_KINDS(entitable::memory_stores, entitable::file_stores)`. With CMake, `entitable::open_compiled` contains it, with
/// the components that the package was found with.
#define ENTITABLE_STORE_KINDS(...)                                                                         \
    decltype(::entitable::detail::linked_store_kinds()) entitable::detail::linked_store_kinds() noexcept { \
        static constexpr ::entitable::store_kind all[] = {__VA_ARGS__};                                    \
        return all;                                                                                        \
    }                                                                                                      \
    static_assert(true)
