// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `function_ref`: a callable by reference, for callbacks that do not outlive the call. Cost: one indirect call, no allocation, no
/// `<functional>`.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <type_traits>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE

template <class Signature>
class function_ref;

/// The only specialisation: for a function type.
template <class Result, class... Arguments>
class function_ref<Result(Arguments...)> {
public:
    /// Refers to `function`, which must outlive this object.
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref> &&
                    std::is_invocable_r_v<Result, F&, Arguments...>)
    function_ref(F&& function) noexcept
        : object_(address_of(function)), call_([](void* object, Arguments... arguments) -> Result {
              auto& target = *reinterpret_cast<std::remove_reference_t<F>*>(object);
              if constexpr (std::is_void_v<Result>) {
                  static_cast<void>(target(std::forward<Arguments>(arguments)...));
              } else {
                  return target(std::forward<Arguments>(arguments)...);
              }
          }) {}

    /// Calls the function.
    Result operator()(Arguments... arguments) const { return call_(object_, std::forward<Arguments>(arguments)...); }

private:
    template <class F>
    static void* address_of(F& function) noexcept {
        if constexpr (std::is_function_v<F>) {
            return reinterpret_cast<void*>(&function);
        } else {
            return const_cast<void*>(static_cast<void const*>(&function));
        }
    }

    void* object_;
    Result (*call_)(void*, Arguments...);
};

ENTITABLE_END_NAMESPACE

#endif
