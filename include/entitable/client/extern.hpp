// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// ENTITABLE_EXTERN(type): a file that uses the entity does not compile its conversions and calls. ENTITABLE_INSTANTIATE(type), of
/// `<entitable/entitable.hpp>`, compiles them in one file. Both are outside all namespaces, and after ENTITABLE(type, ...).

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/detail/instantiated_table.hpp>
#include <entitable/client/extern_macro.hpp>
#include <entitable/core/detail/instantiated_entity.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <>
struct instantiated_entity<not_instantiated> {};

template <class Entity>
using instantiable =
    std::conditional_t<mapped_entity<Entity> && std::is_move_constructible_v<Entity>, Entity, not_instantiated>;

/// Defined by ENTITABLE_INSTANTIATE. The linker reports a second definition.
template <class Entity>
void is_instantiated_in_one_file();

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
