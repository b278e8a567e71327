// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Makes a key from the values of its components that a caller passes.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/key_argument.hpp>
#include <entitable/client/mapping/key_layout.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Appends the text of a value. This is one function for all components of a codec, in any entity.
template <class Codec, class T>
[[nodiscard]] bool append_value(std::string& out, void const* from) {
    return Codec::append(out, *static_cast<T const*>(from));
}

/// Converts a key argument for `write_key`. An argument that does not fit has no text.
template <class Codec, class T>
[[nodiscard]] key_source source_of(key_argument<T> const& argument) noexcept {
    if constexpr (requires { argument.fits; }) {
        if (!argument.fits) {
            return {nullptr, +[](std::string&, void const*) { return false; }};
        }
    }
    return {&argument.value, &append_value<Codec, std::remove_cvref_t<decltype(argument.value)>>};
}

template <class... Components>
[[nodiscard]] result<std::string> key_from(
    key_layout layout, key_argument<typename Components::value_type> const&... values) {
    key_source const sources[] = {
        source_of<typename Components::codec, typename Components::value_type>(values)..., key_source{}};
    return write_key(layout, sources);
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
