// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `component`: a member of an entity as part of a key; `components` and `members`: lists of them at compile time.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/key_adaptors.hpp>
#include <entitable/client/mapping/key_codec.hpp>
#include <entitable/client/mapping/key_layout.hpp>

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

/// Type of the member that a member pointer names.
template <auto Member>
using member_type = typename member_pointer<std::remove_cv_t<decltype(Member)>>::value_type;

template <class Getter>
struct getter_type;

template <class Class, class Value>
struct getter_type<Value (Class::*)() const> {
    using type = Value;
};
template <class Class, class Value>
struct getter_type<Value (Class::*)() const noexcept> {
    using type = Value;
};

} // namespace detail

/// A property with a getter, which returns a reference or a trivially copyable value, and a setter.
template <auto Getter, auto Setter>
struct accessor_pair {
    using returned = typename detail::getter_type<decltype(Getter)>::type; ///< return type of the getter
    using value_type = std::remove_cvref_t<returned>;                      ///< value type without a reference
    /// Whether the result of the getter lives as long as the entity, or is copied.
    static constexpr bool lasting = std::is_reference_v<returned> || std::is_trivially_copyable_v<returned>;
};

namespace detail {

template <auto Getter, auto Setter>
struct member_pointer<accessor_pair<Getter, Setter>> {
    using value_type = typename accessor_pair<Getter, Setter>::value_type;
};

} // namespace detail

/// A member as a key component.
template <auto Member, class Codec = key_codec<detail::member_type<Member>>>
struct component {
    using value_type = detail::member_type<Member>; ///< the member's type
    using codec = Codec;                            ///< codec of its text form
    static constexpr auto member = Member;          ///< the member
    static constexpr std::size_t buckets = 0;       ///< the component is not salted

    /// Describes the component as plain data, under a name.
    [[nodiscard]] static constexpr key_component describe(std::string_view name) noexcept {
        constexpr bool low = requires { requires codec::low; };
        return {name, key_component::kind::member, codec::optional, codec::escaped, 0, low};
    }
};

/// A member, preceded by the number of its bucket.
template <auto Member, std::size_t Buckets>
struct salted_component : component<Member> {
    static_assert(Buckets >= 2 && Buckets <= 1000, "salted(member, buckets) takes 2 to 1000 buckets");
    static constexpr std::size_t buckets = Buckets; ///< number of buckets

    /// Describes the bucket as plain data.
    [[nodiscard]] static constexpr key_component describe_bucket(std::string_view name) noexcept {
        return {name, key_component::kind::bucket, false, false, static_cast<std::uint16_t>(Buckets)};
    }
};

/// Constant text in a key.
[[nodiscard]] constexpr key_component literal_component(std::string_view text) noexcept {
    return {text, key_component::kind::literal, false, false, 0};
}

/// The components of a key. The first argument is a placeholder, so that each real component follows a comma.
template <class Placeholder, class... Components>
struct components {
    static constexpr std::size_t size = sizeof...(Components); ///< number of components

    /// The index of a component among those that are members.
    template <class Wanted>
    static constexpr std::size_t index_of = [] {
        std::size_t index = 0;
        bool found = false;
        ((found = found || std::is_same_v<Wanted, Components>, index += found ? 0U : 1U), ...);
        return index;
    }();
};

/// Member pointers, after a placeholder.
template <int Placeholder, auto... Members>
struct members {
    static constexpr std::size_t size = sizeof...(Members); ///< number of members
};

namespace detail {

/// Stands for a member that the entity does not have, so that the mistake is diagnosed once.
struct missing_member {
    std::int32_t value;
};

void entitable_mapping_of(); // lets name lookup succeed; the real hook is found in the entity's namespace

/// Whether the namespace of T has the hook that ENTITABLE declares.
template <class T>
concept finds_mapping = requires(T const* none) { entitable_mapping_of(none); };

/// Whether a key respects the limit on components, including literals and buckets.
template <std::size_t Count>
[[nodiscard]] constexpr bool fits_a_key(key_component const (&)[Count]) noexcept {
    return Count <= max_key_components;
}
/// Used for a key without components, which is diagnosed elsewhere.
[[nodiscard]] constexpr bool fits_a_key(...) noexcept { return true; }

template <std::size_t Count>
[[nodiscard]] constexpr bool is_reserved_key(key_component const (&layout)[Count]) noexcept {
    return is_reserved(layout);
}
/// Used for a key without components.
[[nodiscard]] constexpr bool is_reserved_key(...) noexcept { return false; }

/// Whether no name is reserved; the first is a placeholder.
template <std::size_t Count>
[[nodiscard]] constexpr bool no_name_is_reserved(std::string_view const (&names)[Count]) noexcept {
    for (std::string_view const name : names) {
        if (name == "PartitionKey" || name == "RowKey" || name == "Timestamp") { return false; }
    }
    return true;
}

/// Whether the text of an item of ENTITABLE is a name alone.
[[nodiscard]] constexpr bool is_plain_name(std::string_view item) noexcept {
    return item.find('(') == std::string_view::npos;
}
/// Whether a name is one of several.
template <std::size_t Count>
[[nodiscard]] constexpr bool is_in_names(std::string_view const (&names)[Count], std::string_view name) noexcept {
    for (std::string_view const each : names) {
        if (each == name) { return true; }
    }
    return false;
}

/// Whether the names are distinct; the first is a placeholder. Compares sums of the names first: compilers count the steps of a constant
/// expression, and 252 names are 31,626 pairs.
template <std::size_t Count>
[[nodiscard]] constexpr bool names_are_distinct(std::string_view const (&names)[Count]) noexcept {
    std::uint32_t sums[Count]{};
    for (std::size_t one = 1; one < Count; ++one) {
        std::uint32_t sum = 0;
        for (char const character : names[one]) { sum = sum * 31 + static_cast<unsigned char>(character); }
        for (std::size_t other = 1; other < one; ++other) {
            if (sums[other] == sum && names[other] == names[one]) { return false; }
        }
        sums[one] = sum;
    }
    return true;
}

/// Whether the key is one component whose text is its value, possibly after a literal or a bucket.
template <class... Components>
inline constexpr bool is_one_text = false;
template <class Component>
inline constexpr bool is_one_text<Component> = std::is_same_v<typename Component::codec, key_codec<std::string>>;

/// Whether every text is a valid key: the layout has one component, which is a text.
template <class... Components>
[[nodiscard]] constexpr bool takes_every_text(key_layout layout, components<void, Components...>) noexcept {
    return is_one_text<Components...> && layout.size() == 1;
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
