// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The macro of `extern.hpp` without the types that its expansion names.

/// Declares that another file compiles the conversions and calls of this entity: see above. Write it into the header of the entity. Without
/// ENTITABLE_INSTANTIATE the linker does not find members of `instantiated_entity<type>`.
#define ENTITABLE_EXTERN(...)                                                                                        \
    static_assert(::entitable::mapped_entity<__VA_ARGS__>,                                                           \
        "ENTITABLE_EXTERN(" #__VA_ARGS__ ") must be after ENTITABLE(" #__VA_ARGS__ ", ...)");                        \
    extern "C++" { /* in a module of the program: the members belong to no module */                                 \
    extern template struct ::entitable::detail::instantiated_entity<::entitable::detail::instantiable<__VA_ARGS__>>; \
    extern template class ::entitable::detail::instantiated_table<::entitable::detail::instantiable<__VA_ARGS__>>;   \
    extern template ::std::vector<::entitable::detail::instantiable<__VA_ARGS__>>::~vector();                        \
    }
