// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A key from the values of its components, as a caller writes them.

#include <entitable/mapping/key_argument.hpp>
#include <entitable/mapping/key_layout.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A key argument as `write_key` takes it.
template <class Component>
[[nodiscard]] key_source source_of(key_argument<typename Component::value_type> const& argument) noexcept {
    return {&argument.value, [](std::string& out, void const* from) {
                using stored = std::remove_cvref_t<decltype(argument.value)>;
                return Component::codec::append(out, *static_cast<stored const*>(from));
            }};
}

template <class... Components>
[[nodiscard]] result<std::string> key_from(
    key_layout layout, key_argument<typename Components::value_type> const&... values) {
    key_source const sources[] = {source_of<Components>(values)..., key_source{}};
    return write_key(layout, sources);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
