// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Members that are stored as several properties: `chunked(member)` inside `properties(...)`, and members of type `reference<E>`.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/component.hpp>
#include <entitable/client/mapping/reference.hpp>
#include <entitable/core/value.hpp>

#include <optional>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

/// The result of `chunked(member)` inside `properties(...)`: a text or binary member that may exceed the limit of a property. It is stored
/// as `name`, `name_1` to `name_14` of up to 64 KiB each, and `name_n`, the number of valid chunks.
template <auto Pointer>
struct chunked_member {
    using value_type = detail::member_type<Pointer>; ///< the member's type
    static constexpr auto pointer = Pointer;         ///< the member
};

/// Maximum number of properties that store the text or binary of a chunked member.
inline constexpr std::size_t max_chunks = 15;

namespace detail {

template <auto Pointer>
struct member_pointer<chunked_member<Pointer>> {
    using value_type = member_type<Pointer>;
};

template <class T>
inline constexpr bool is_chunked_tag = false;
template <auto Pointer>
inline constexpr bool is_chunked_tag<chunked_member<Pointer>> = true;

/// Whether the member is declared with `chunked(...)`.
template <auto Member>
inline constexpr bool is_chunked = is_chunked_tag<std::remove_cv_t<decltype(Member)>>;
/// Whether the member is a reference.
template <auto Member>
inline constexpr bool is_reference = is_reference_type<member_type<Member>>;
/// Whether the member is stored as several properties.
template <auto Member>
inline constexpr bool is_in_parts = is_chunked<Member> || is_reference<Member>;

template <class T>
inline constexpr bool can_be_chunked = false;
template <>
inline constexpr bool can_be_chunked<std::string> = true;
template <>
inline constexpr bool can_be_chunked<binary> = true;
template <class T>
inline constexpr bool can_be_chunked<std::optional<T>> = can_be_chunked<T>;

/// Suffixes of the names of a chunked member; the first chunk has no suffix, the last suffix marks the count.
inline constexpr std::string_view chunk_suffixes[max_chunks + 1] = {
    "", "_1", "_2", "_3", "_4", "_5", "_6", "_7", "_8", "_9", "_10", "_11", "_12", "_13", "_14", "_n"};
/// Suffixes of the names of a reference.
inline constexpr std::string_view reference_suffixes[2] = {"_PartitionKey", "_RowKey"};

// Members with an earlier name or type: `changed.hpp` defines them.
template <class T>
inline constexpr bool is_changed_tag = false;
template <class T>
inline constexpr std::size_t names_of_tag = 1;
/// Whether the member is declared with `formerly(...)` or `retyped(...)`.
template <auto Member>
inline constexpr bool is_changed = is_changed_tag<std::remove_cv_t<decltype(Member)>>;

/// Number of properties that store a member. A former name is one of them, and always absent.
template <auto Member>
inline constexpr std::size_t parts_of_member = is_chunked<Member> ? max_chunks + 1
    : is_reference<Member>                                        ? 2
                                                                  : names_of_tag<std::remove_cv_t<decltype(Member)>>;

/// Whether `name` is `base` with a suffix.
[[nodiscard]] constexpr bool is_name_of_part(
    std::string_view name, std::string_view base, std::string_view const* suffixes, std::size_t count) noexcept {
    if (name.size() <= base.size() || name.substr(0, base.size()) != base) { return false; }
    for (std::size_t index = 0; index < count; ++index) {
        if (name.substr(base.size()) == suffixes[index]) { return true; }
    }
    return false;
}

/// Whether the declared names differ from all names used by members in parts; the first name is a placeholder.
template <std::size_t Count, auto... Members>
[[nodiscard]] constexpr bool names_of_parts_are_free(
    std::string_view const (&names)[Count], members<0, Members...>) noexcept {
    if constexpr ((is_in_parts<Members> || ...)) {
        bool const chunked[] = {false, is_chunked<Members>...};
        bool const references[] = {false, is_reference<Members>...};
        for (std::size_t one = 1; one < Count; ++one) {
            for (std::size_t other = 1; other < Count; ++other) {
                if ((chunked[one] && is_name_of_part(names[other], names[one], chunk_suffixes, max_chunks + 1)) ||
                    (references[one] && is_name_of_part(names[other], names[one], reference_suffixes, 2))) {
                    return false;
                }
            }
        }
    }
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
