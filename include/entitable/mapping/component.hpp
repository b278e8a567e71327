// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `component`: a member of an entity as part of a key; `components` and `members`: lists of them at compile time.

#include <entitable/mapping/key_codec.hpp>
#include <entitable/mapping/key_layout.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class Pointer>
struct member_pointer;

template <class Class, class Value>
struct member_pointer<Value Class::*> {
    using value_type = Value;
};

/// The type of the member that a member pointer names.
template <auto Member>
using member_type = typename member_pointer<std::remove_cv_t<decltype(Member)>>::value_type;

} // namespace detail

/// A member as a key component.
template <auto Member>
struct component {
    using value_type = detail::member_type<Member>;
    using codec = key_codec<value_type>;
    static constexpr auto member = Member;

    [[nodiscard]] static constexpr key_component describe(std::string_view name) noexcept {
        return {name, false, codec::optional};
    }
};

/// The components of a key. The first argument is a placeholder, so that every further one can begin with a comma.
template <class Placeholder, class... Components>
struct components {
    static constexpr std::size_t size = sizeof...(Components);
};

/// Member pointers, behind a placeholder.
template <int Placeholder, auto... Members>
struct members {
    static constexpr std::size_t size = sizeof...(Members);
};

namespace detail {

/// No two names are equal; the first is a placeholder.
template <std::size_t Count>
[[nodiscard]] constexpr bool names_are_distinct(std::string_view const (&names)[Count]) noexcept {
    for (std::size_t one = 1; one < Count; ++one) {
        for (std::size_t other = one + 1; other < Count; ++other) {
            if (names[one] == names[other]) {
                return false;
            }
        }
    }
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
