// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The macro of `instantiate.hpp` without the types that its expansion names.

/// Compiles the conversions and calls of this entity for all files of the program. Write it into exactly one file, outside all namespaces.
/// The linker reports a second file: multiple definition of `is_instantiated_in_one_file<type>()`.
#define ENTITABLE_INSTANTIATE(...)                                                                            \
    static_assert(::entitable::mapped_entity<__VA_ARGS__>,                                                    \
        "ENTITABLE_INSTANTIATE(" #__VA_ARGS__ ") must be after ENTITABLE(" #__VA_ARGS__ ", ...)");            \
    static_assert(::std::is_move_constructible_v<__VA_ARGS__>,                                                \
        "ENTITABLE_INSTANTIATE: " #__VA_ARGS__ " cannot be moved, so no call returns it: leave it out");      \
    template struct ::entitable::detail::instantiated_entity<::entitable::detail::instantiable<__VA_ARGS__>>; \
    template class ::entitable::detail::instantiated_table<::entitable::detail::instantiable<__VA_ARGS__>>;   \
    template ::std::vector<::entitable::detail::instantiable<__VA_ARGS__>>::~vector();                        \
    template <>                                                                                               \
    void ::entitable::detail::is_instantiated_in_one_file<__VA_ARGS__>() {}
