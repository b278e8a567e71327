// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Members whose name or type has changed while rows are stored: `formerly(member, "Old")` and `retyped(member, function)` in `properties`.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/chunked.hpp>
#include <entitable/client/mapping/detail/value_reader.hpp>

#include <type_traits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Stands for the function of a member whose type has not changed.
struct same_type {};

/// Type of the values that a function of `retyped(member, function)` reads, and of its outcome.
template <class Function>
struct retyping {
    static constexpr bool good = false;
};
template <class Made, class Old>
struct retyping<Made (*)(Old)> {
    static constexpr bool good = true;
    using old_type = std::conditional_t<std::is_same_v<std::remove_cvref_t<Old>, std::string_view>, std::string,
        std::remove_cvref_t<Old>>;
    using made_type = Made;
};
template <class Made, class Old>
struct retyping<Made (*)(Old) noexcept> : retyping<Made (*)(Old)> {};

/// The earlier form of a property: plain data, one constant for each changed member.
struct former_property {
    std::string_view name; ///< empty if the name is the same
    edm_type type;         ///< type in earlier rows
    edm_type current;      ///< type of the member
    /// Converts a value of the earlier type; false if the function refuses the value. Null if the type is the same.
    bool (*convert)(value_view stored, value& to);

    /// Whether a stored value must be converted.
    [[nodiscard]] bool converts(value_view stored) const noexcept {
        return convert != nullptr && stored.type() == type;
    }
};

} // namespace detail

/// A member with an earlier name or type. `History` has both; the macro defines it.
template <auto Pointer, class History>
struct changed_member {
    using value_type = detail::member_type<Pointer>; ///< the member's type
    using history = History;                         ///< former name, and the function that reads the former type
    static constexpr auto pointer = Pointer;         ///< the member
};

namespace detail {

template <auto Pointer, class History>
struct member_pointer<changed_member<Pointer, History>> {
    using value_type = member_type<Pointer>;
};
template <auto Pointer, class History>
inline constexpr bool is_changed_tag<changed_member<Pointer, History>> = true;
template <auto Pointer, class History>
inline constexpr std::size_t names_of_tag<changed_member<Pointer, History>> = History::former.empty() ? 1 : 2;

template <auto Member>
using history_of = typename std::remove_cv_t<decltype(Member)>::history;

/// Whether the stored type of a member has changed.
template <class History>
inline constexpr bool is_retyped = !std::is_same_v<std::remove_cv_t<decltype(History::convert)>, same_type>;

/// Takes the outcome of a function of `retyped`: a value, an optional or a result of one.
template <class T, class Made>
[[nodiscard]] bool take_made(T& to, Made&& made) {
    if constexpr (requires { made.has_value(); }) {
        if (!made.has_value()) { return false; }
        to = *std::forward<Made>(made);
    } else {
        to = std::forward<Made>(made);
    }
    return true;
}

/// Reads a value of the earlier type into a member, or into the value of an optional member.
template <class T, class History>
[[nodiscard]] bool convert_stored(value_view stored, T& to) {
    using old_type = typename retyping<std::remove_cv_t<decltype(History::convert)>>::old_type;
    old_type old{};
    return property_type<old_type>::assign(old, stored) && take_made(to, History::convert(old));
}

/// Makes the description of the earlier form of a member with type `T`, without its optional.
template <class T, class History>
[[nodiscard]] constexpr former_property make_former() noexcept {
    if constexpr (is_retyped<History>) {
        using old_type = typename retyping<std::remove_cv_t<decltype(History::convert)>>::old_type;
        return {
            History::former, property_type<old_type>::type, property_type<T>::type, [](value_view stored, value& to) {
                T made{};
                if (!convert_stored<T, History>(stored, made)) { return false; }
                to = property_type<T>::view(made);
                return true;
            }};
    } else {
        return {History::former, property_type<T>::type, property_type<T>::type, nullptr};
    }
}
/// The earlier form of a changed member.
template <auto Member>
inline constexpr former_property former_of =
    make_former<typename property_shape<member_type<Member>>::value_type, history_of<Member>>();

/// Whether a function of `retyped` fits a member: it reads another type, and returns the type of the member.
template <class T, class History>
[[nodiscard]] constexpr bool can_be_retyped() noexcept {
    if constexpr (!is_retyped<History>) {
        return true;
    } else if constexpr (!retyping<std::remove_cv_t<decltype(History::convert)>>::good) {
        return false;
    } else {
        using shape = retyping<std::remove_cv_t<decltype(History::convert)>>;
        using type = typename property_shape<T>::value_type;
        if constexpr (property_value<typename shape::old_type> && property_value<type> &&
            !property_shape<typename shape::old_type>::optional) {
            using made = typename shape::made_type;
            return property_type<typename shape::old_type>::type != property_type<type>::type &&
                (std::is_same_v<made, type> || std::is_same_v<made, std::optional<type>> ||
                    std::is_same_v<made, result<type>>);
        } else {
            return false;
        }
    }
}

template <auto Member>
constexpr void add_former_name([[maybe_unused]] std::string_view& to) noexcept {
    if constexpr (is_changed<Member>) { to = history_of<Member>::former; }
}
enum class former_name_fault : std::uint8_t { none, own, taken, twice };

/// Returns the first fault of the former names; the first name is a placeholder.
template <std::size_t Count, auto... Members>
[[nodiscard]] constexpr former_name_fault fault_of_former_names(
    [[maybe_unused]] std::string_view const (&names)[Count], members<0, Members...>) noexcept {
    if constexpr ((is_changed<Members> || ...)) {
        std::string_view formers[Count];
        std::size_t at = 1;
        (add_former_name<Members>(formers[at++]), ...);
        for (std::size_t one = 1; one < Count; ++one) {
            std::string_view const former = formers[one];
            if (former.empty()) { continue; }
            if (former == names[one]) { return former_name_fault::own; }
            if (former == "PartitionKey" || former == "RowKey" || former == "Timestamp") {
                return former_name_fault::taken;
            }
            for (std::size_t other = 1; other < Count; ++other) {
                if (former == names[other]) { return former_name_fault::taken; }
                if (other != one && former == formers[other]) { return former_name_fault::twice; }
            }
        }
    }
    return former_name_fault::none;
}

/// Whether rows of the entity may have properties under former names.
template <class Members>
inline constexpr bool has_former_names = false;
template <auto... Members>
inline constexpr bool has_former_names<members<0, Members...>> =
    ((is_changed<Members> && parts_of_member<Members> == 2) || ...);

/// Whether a member has an earlier name or type.
template <class Members>
inline constexpr bool has_changed_members = false;
template <auto... Members>
inline constexpr bool has_changed_members<members<0, Members...>> = (is_changed<Members> || ...);

/// Reports that a write cannot remove a former name, because a merge of the service removes no property.
template <class Members>
consteval void refuse_merge_beside_former_names() {
    static_assert(!has_former_names<Members>,
        "the entity has a member with formerly(...), and this merge cannot remove the former name: use update(...), "
        "replace(...) or insert_or_replace(...), or merge(...) of a table");
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
