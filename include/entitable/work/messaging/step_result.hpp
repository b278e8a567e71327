// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `step_result`: the result of a saga's step, which can state that the step had no effect.
///
///     step("seat", [&](booking const& it) -> step_result {
///         ENTITABLE_TRY(auto const seat, seats.get(it.train)); // may have had an effect, like any error
///         if (seat.free == 0) {
///             return no_effect{error_code::out_of_range_input, "no seat is left"}; // nothing was written before this line
///         }
///         ...

#include <entitable/core/result.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The error of a step that had no effect: this run of the step needs no undo. It is a separate type, because the `effect` of an error
/// describes one request, and the step may have sent other requests before.
class [[nodiscard]] no_effect {
public:
    /// Takes an error.
    explicit no_effect(entitable::error problem) : problem_(std::move(problem)) {}
    /// Makes an error from a code and a message.
    no_effect(error_code code, std::string message) : problem_(code, std::move(message)) {}

    /// The error.
    [[nodiscard]] entitable::error const& error() const& noexcept { return problem_; }
    [[nodiscard]] entitable::error&& error() && noexcept { return std::move(problem_); }

private:
    entitable::error problem_;
};

/// Success, an error after which the step may have had an effect, or an error that states that it had no effect. Thread safety: a value.
class [[nodiscard]] step_result {
public:
    step_result() = default;                                                ///< success
    step_result(failure&& problem) noexcept : ended_(std::move(problem)) {} ///< the step may have had an effect
    /// Success or the error of a result; after an error the step may have had an effect.
    template <class T>
    step_result(result<T> other) : ended_(std::move(other)) {} // NOLINT: implicit, as that of `result<void>`
    /// Takes the error of a step that had no effect.
    step_result(no_effect problem) // NOLINT: implicit on purpose
        : ended_(failure{std::move(problem).error()}), had_no_effect_(true) {}

    explicit operator bool() const noexcept { return ended_.has_value(); }           ///< whether it succeeded
    [[nodiscard]] bool has_value() const noexcept { return ended_.has_value(); }     ///< whether it succeeded
    [[nodiscard]] entitable::error const& error() const { return ended_.error(); }   ///< same as that of `result`
    [[nodiscard]] failure as_failure() && { return std::move(ended_).as_failure(); } ///< same as that of `result`
    [[nodiscard]] bool had_no_effect() const noexcept { return had_no_effect_; }     ///< made from `no_effect`

private:
    result<void> ended_;
    bool had_no_effect_{};
};

ENTITABLE_END_NAMESPACE
