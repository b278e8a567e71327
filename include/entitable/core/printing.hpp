// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Declares the `<<` that `<entitable/print.hpp>` defines. ENTITABLE makes it visible in the namespace of the entity, where a stream looks
/// for it. Without that header the operator cannot be used.

#include <entitable/core/config.hpp>

#include <iosfwd>

ENTITABLE_BEGIN_NAMESPACE
namespace printing {

/// Makes the text of a T; see `<entitable/print.hpp>`.
template <class T>
struct text_maker;

/// Prints an entity or a value of the library. An operator for one type is more specialised, so it is preferred.
template <class Character, class Traits, class T>
    requires requires(T const& value, Character* character) { text_maker<T>::make(value, character); }
std::basic_ostream<Character, Traits>& operator<<(std::basic_ostream<Character, Traits>& out, T const& value);

} // namespace printing
ENTITABLE_END_NAMESPACE
