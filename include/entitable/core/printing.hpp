// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Declares the `<<` that `<entitable/print.hpp>` defines. ENTITABLE makes it visible in the namespace of the entity, where a stream looks
/// for it. Without that header the operator cannot be used.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <iosfwd>
#include <string_view>
#include <type_traits>

/// \cond
// Outside of the library's namespace, so that only argument-dependent lookup finds the function: it does for the types of the library.
namespace entitable_printing_lookup {

void entitable_prints_its_own();

template <class T>
concept type_of_library = requires(T const& value) { entitable_prints_its_own(value); };

} // namespace entitable_printing_lookup
/// \endcond

ENTITABLE_BEGIN_NAMESPACE
/// \cond
template <class T>
void entitable_prints_its_own(T const&);
/// \endcond

namespace printing {

using entitable_printing_lookup::type_of_library;

/// Makes the text of a T; see `<entitable/print.hpp>`.
template <class T>
struct text_maker;

/// Prints an entity or a value of the library. An operator for one type is more specialised, so it is preferred.
template <class Character, class Traits, class T>
    requires requires(T const& value, Character* character) { text_maker<T>::make(value, character); }
std::basic_ostream<Character, Traits>& operator<<(std::basic_ostream<Character, Traits>& out, T const& value);

/// Whether a T is an entity, or a class of the library, and has no text of its own.
template <class T>
concept printed_by_header =
    std::is_class_v<T> && (type_of_library<T> || requires(T const* none) { entitable_mapping_of(none).entity_name; }) &&
    !std::is_convertible_v<T const&, std::string_view> && !std::is_convertible_v<T const&, long double> &&
    !std::is_convertible_v<T const&, void const*>;

/// \cond
// The parameter of the `<<` below. A conversion, so that every other operator is preferred.
struct what_entitable_print_hpp_prints_if_it_is_included {
    template <printed_by_header T>
    what_entitable_print_hpp_prints_if_it_is_included(T const&); // NOLINT: implicit on purpose
};
// Does not compile: compilers report the header that is missing, and no list of operators.
template <class Character, class Traits>
std::basic_ostream<Character, Traits>& operator<<(
    std::basic_ostream<Character, Traits>& out, what_entitable_print_hpp_prints_if_it_is_included)
    ENTITABLE_REFUSED("to print entities, results and values of the library, include <entitable/print.hpp>");
/// \endcond

} // namespace printing

using printing::operator<<;
ENTITABLE_END_NAMESPACE

#endif
