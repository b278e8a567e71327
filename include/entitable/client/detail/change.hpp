// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The changes that `update` accepts: functions that take the entity by reference and return nothing or bool. Anything else would lose the
/// caller's change, so it does not compile.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Parameter type of a function with one parameter.
template <class Function>
struct parameter_of {};
template <class Result, class Parameter, bool Noexcept>
struct parameter_of<Result(Parameter) noexcept(Noexcept)> {
    using type = Parameter;
};
template <class Result, class Class, class Parameter, bool Noexcept>
struct parameter_of<Result (Class::*)(Parameter) noexcept(Noexcept)> : parameter_of<Result(Parameter)> {};
template <class Result, class Class, class Parameter, bool Noexcept>
struct parameter_of<Result (Class::*)(Parameter) const noexcept(Noexcept)> : parameter_of<Result(Parameter)> {};
template <class Result, class Class, class Parameter, bool Noexcept>
struct parameter_of<Result (Class::*)(Parameter) & noexcept(Noexcept)> : parameter_of<Result(Parameter)> {};
template <class Result, class Class, class Parameter, bool Noexcept>
struct parameter_of<Result (Class::*)(Parameter) const & noexcept(Noexcept)> : parameter_of<Result(Parameter)> {};

/// Placeholder for the return type of a change.
struct no_change {};

/// An overload that competes with a change if the change is a template or is overloaded. For a mutable entity,
/// `Entity&` is a better match than `Entity const&`; `Entity` and `Entity const&` are not. So the change wins only if
/// it takes the entity by reference, and a body that would not be called is never instantiated.
template <class Change, class Entity>
struct change_rival : Change {
    using Change::operator();
    no_change operator()(Entity const&);
};
/// Does the same for a change that can be called as const.
template <class Change, class Entity>
struct change_rival<Change const, Entity> : Change {
    using Change::operator();
    no_change operator()(Entity const&) const;
};

template <class Rival, class Entity>
concept wins_by_reference =
    requires(Rival& rival, Entity& entity) { requires !std::same_as<decltype(rival(entity)), no_change>; };

/// Whether the change takes the entity by reference. Looks through std::ref.
template <class Change, class Entity>
[[nodiscard]] consteval bool takes_by_reference() {
    using function = std::remove_pointer_t<std::remove_cvref_t<Change>>;
    if constexpr (std::is_function<function>::value) {
        if constexpr (requires { typename parameter_of<function>::type; }) {
            using parameter = typename parameter_of<function>::type;
            return std::is_lvalue_reference_v<parameter> && !std::is_const_v<std::remove_reference_t<parameter>> &&
                std::is_invocable_v<function&, Entity&>;
        } else {
            return false;
        }
    } else if constexpr (!std::is_class<function>::value || std::is_pointer<std::remove_cvref_t<Change>>::value) {
        return false;
    } else if constexpr (requires(function const& wrapped) {
                             { wrapped.get() } -> std::same_as<typename function::type&>;
                         }) {
        return takes_by_reference<typename function::type, Entity>();
    } else if constexpr (requires { typename parameter_of<decltype(&function::operator())>::type; }) {
        using parameter = typename parameter_of<decltype(&function::operator())>::type;
        return std::is_lvalue_reference_v<parameter> && !std::is_const_v<std::remove_reference_t<parameter>> &&
            std::is_invocable_v<Change&, Entity&>;
    } else if constexpr (std::is_final_v<function>) {
        return false; // no overload can compete with this template
    } else {
        return wins_by_reference<change_rival<function const, Entity> const, Entity> ||
            (!std::is_const_v<Change> && wins_by_reference<change_rival<function, Entity>, Entity>);
    }
}

/// Reports in one line why a change is invalid.
template <class Change, class Entity>
[[nodiscard]] consteval bool allow_change() {
    constexpr bool by_reference = takes_by_reference<std::remove_reference_t<Change>, Entity>();
    static_assert(by_reference,
        "the change function must take the table's entity by reference: [](order& found) { ... }; changes to a copy "
        "would be lost");
    if constexpr (by_reference) {
        using returned = decltype(std::declval<Change&>()(std::declval<Entity&>()));
        constexpr bool decides = std::same_as<returned, void> || std::same_as<returned, bool>;
        static_assert(decides,
            "the change function must return void or bool (whether to write); this function returns a different type");
        return decides;
    } else {
        return false;
    }
}

/// Calls `change` with the entity; returns whether to write it.
template <class Change, class Entity>
[[nodiscard]] bool apply_change(Change& change, Entity& entity) {
    if constexpr (!allow_change<Change, Entity>()) {
        return false; // the reason was reported
    } else if constexpr (std::is_void_v<decltype(change(entity))>) {
        change(entity);
        return true;
    } else {
        return change(entity);
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
