// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `result<T>`: a value or an `error`, shaped like `std::expected<T, error>`, whose `*` and `->` look first. The error lives on the heap:
/// a result holds the value, a pointer and a flag, and a success allocates nothing.

#include <entitable/core/assertion.hpp>
#include <entitable/core/error.hpp>

#include <concepts>
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE

/// An error on its way into a result of any type: `return failure{error_code::..., "text"};`
class [[nodiscard]] failure {
public:
    /// Takes over an error that was made.
    explicit failure(entitable::error problem) : problem_(new entitable::error(std::move(problem))) {}
    /// Makes an error of a code and our words.
    failure(error_code code, std::string message) : problem_(new entitable::error(code, std::move(message))) {}
    /// Takes over an error on the heap.
    explicit failure(entitable::error* problem) noexcept : problem_(problem) {}
    failure(failure&& other) noexcept : problem_(other.problem_) {
        other.problem_ = nullptr;
    } ///< leaves nothing behind
    failure& operator=(failure&&) = delete;
    ~failure() { delete problem_; }

    /// The error, to be filled in; undefined after it was returned or released.
    [[nodiscard]] entitable::error& error() & noexcept { return *problem_; }
    /// Gives the error on the heap to the caller.
    [[nodiscard]] entitable::error* release() && noexcept {
        entitable::error* const released = problem_;
        problem_ = nullptr;
        return released;
    }

private:
    entitable::error* problem_;
};

namespace detail {

/// InvalidInput: the handle was moved from.
ENTITABLE_LAZY [[nodiscard]] failure moved_from(std::string_view handle);
/// The error of a result whose own one was taken.
ENTITABLE_LAZY [[nodiscard]] entitable::error const& taken_error() noexcept;

/// The part of a result that does not depend on its value.
class error_slot {
public:
    error_slot() = default; ///< no error
    explicit error_slot(entitable::error* problem) noexcept : problem_(problem != nullptr ? problem : taken()) {}
    error_slot(error_slot const& other)
        : problem_(other.holds() ? new entitable::error(*other.problem_) : other.problem_) {}
    error_slot(error_slot&& other) noexcept : problem_(other.problem_) {
        if (problem_ != nullptr) {
            other.problem_ = taken();
        }
    }
    error_slot& operator=(error_slot other) noexcept {
        entitable::error* const held = problem_;
        problem_ = other.problem_;
        other.problem_ = held;
        return *this;
    }
    ~error_slot() {
        if (holds()) {
            delete problem_;
        }
    }

    [[nodiscard]] bool empty() const noexcept { return problem_ == nullptr; }
    [[nodiscard]] entitable::error const& get() const noexcept { return holds() ? *problem_ : taken_error(); }
    /// Ends the program if there is no error to return.
    static void must_be_error(bool is_error) {
        ENTITABLE_ASSERT(
            is_error, "error() of a result that has a value", misuse("call error() only after a test of the result"));
    }
    /// Throws the error of a result that has no value.
    void raise_unless(bool has_value) const {
        if (!has_value) {
            get().raise();
        }
    }
    /// Takes over the error of another one, if it has any; returns whether it has.
    [[nodiscard]] bool take_over(error_slot& other) noexcept {
        if (other.empty()) {
            return false;
        }
        *this = static_cast<error_slot&&>(other);
        return true;
    }
    [[nodiscard]] failure take() noexcept {
        entitable::error* const held = holds() ? problem_ : nullptr;
        problem_ = held != nullptr ? taken() : problem_;
        return failure{held};
    }

private:
    /// Stands for an error that was taken: a failed result that was moved from stays a failed one. No address of an object, of which
    /// each shared library that hides its symbols would have one of its own.
    [[nodiscard]] static entitable::error* taken() noexcept {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): nobody follows it
        return reinterpret_cast<entitable::error*>(~std::uintptr_t{});
    }
    [[nodiscard]] bool holds() const noexcept { return problem_ != nullptr && problem_ != taken(); }

    entitable::error* problem_{};
};

} // namespace detail

/// The outcome of an operation: a `T`, or an `error`. Copyable when `T` is. A result that was moved from, or whose error was taken by
/// `as_failure`, stays what it was: it has a value that was moved from, or the error InvalidInput. Thread safety: one thread at a time.
template <class T>
class [[nodiscard]] result {
public:
    using value_type = T;                ///< what it holds
    using error_type = entitable::error; ///< what it holds otherwise

    result(failure&& problem) noexcept
        : problem_(static_cast<failure&&>(problem).release()), has_value_(false) {} ///< fails

    /// Succeeds with a value, which is converted where that is implicit.
    template <class U = T>
        requires(!std::same_as<std::remove_cvref_t<U>, result> && !std::same_as<std::remove_cvref_t<U>, failure> &&
            !std::same_as<std::remove_cvref_t<U>, std::in_place_t> && std::is_constructible_v<T, U>)
    explicit(!std::is_convertible_v<U, T>) result(U&& value) : value_(std::forward<U>(value)) {}

    /// Makes the value in place, so that a large entity is never moved.
    template <class... Arguments>
    explicit result(std::in_place_t, Arguments&&... arguments) : value_(std::forward<Arguments>(arguments)...) {}

    /// Copies the value or the error.
    result(result const& other) : problem_(other.problem_), has_value_(other.has_value_) {
        if (has_value_) {
            ::new (static_cast<void*>(&value_)) T(other.value_);
        }
    }
    /// Moves the value or the error.
    result(result&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
        : problem_(static_cast<detail::error_slot&&>(other.problem_)), has_value_(other.has_value_) {
        if (has_value_) {
            ::new (static_cast<void*>(&value_)) T(static_cast<T&&>(other.value_));
        }
    }
    /// Where the move of `T` throws, this becomes an InternalError.
    result& operator=(result other) noexcept(std::is_nothrow_move_constructible_v<T>) {
        if constexpr (!std::is_nothrow_move_constructible_v<T>) {
            detail::error_slot interrupted{
                new entitable::error(error_code::internal_error, "a move of the value threw")};
            destroy();
            problem_ = std::move(interrupted);
        }
        destroy();
        if (!other.has_value_) {
            problem_ = std::move(other.problem_);
        } else {
            ::new (static_cast<void*>(&value_)) T(static_cast<T&&>(other.value_));
            has_value_ = true;
            problem_ = {};
        }
        return *this;
    }
    /// Fails: for a result that is filled where it is returned, and never moved.
    result& operator=(failure&& problem) noexcept {
        destroy();
        problem_ = detail::error_slot{static_cast<failure&&>(problem).release()};
        return *this;
    }
    /// Fails where `outcome` has failed, with its error: for a result that is filled where it is returned, by what may fail.
    void fail_if(result<void>&& outcome) noexcept;
    ~result() {
        if (has_value_) {
            value_.~T();
        }
    }

    /// Whether there is a value.
    [[nodiscard]] bool has_value() const noexcept { return has_value_; }
    explicit operator bool() const noexcept { return has_value_; } ///< whether there is a value

    /// The value; throws the error when there is none (ends the program without exceptions).
    [[nodiscard]] T& value() & {
        problem_.raise_unless(has_value_);
        return value_;
    }
    [[nodiscard]] T const& value() const& {
        problem_.raise_unless(has_value_);
        return value_;
    }
    T value() && {
        problem_.raise_unless(has_value_);
        return static_cast<T&&>(value_);
    }
    /// Throws the error when there is one, as `value()` does, and returns nothing: for a result with a name, whose value is not needed.
    void(check)() const { problem_.raise_unless(has_value_); } // in parentheses: `check` is a macro of <AssertMacros.h>

    /// The value, where there is one: an error ends the program with its text, by `ENTITABLE_ASSERT`.
    [[nodiscard]] T& operator*() & {
        must_have_value();
        return value_;
    }
    [[nodiscard]] T const& operator*() const& {
        must_have_value();
        return value_;
    }
    [[nodiscard]] T&& operator*() && {
        must_have_value();
        return static_cast<T&&>(value_);
    }
    /// The value's members; as `*`.
    [[nodiscard]] T* operator->() {
        must_have_value();
        return &value_;
    }
    [[nodiscard]] T const* operator->() const {
        must_have_value();
        return &value_;
    }

    /// The error, where there is one: a success ends the program, by `ENTITABLE_ASSERT`.
    [[nodiscard]] error_type const& error() const {
        problem_.must_be_error(!has_value_);
        return problem_.get();
    }

    /// The error moved into a result of another type: `if (!r) return std::move(r).as_failure();`
    [[nodiscard]] failure as_failure() && { return problem_.take(); }

    /// The value, or another one when there is none.
    template <class U>
    [[nodiscard]] T value_or(U&& otherwise) && {
        return has_value() ? static_cast<T&&>(value_) : static_cast<T>(std::forward<U>(otherwise));
    }
    template <class U>
    [[nodiscard]] T value_or(U&& otherwise) const& {
        return has_value() ? value_ : static_cast<T>(std::forward<U>(otherwise));
    }

    /// Returns `next(value)`, which is a result, or the error.
    template <class Next>
    auto and_then(Next&& next) && -> decltype(next(std::declval<T&&>())) {
        if (!has_value()) {
            return problem_.take();
        }
        return next(static_cast<T&&>(value_));
    }

    /// The result of `change(value)`, or the error.
    template <class Change>
    auto transform(Change&& change) && -> result<std::remove_cvref_t<decltype(change(std::declval<T&&>()))>> {
        if (!has_value()) {
            return problem_.take();
        }
        return change(static_cast<T&&>(value_));
    }

private:
    void must_have_value() const {
        ENTITABLE_ASSERT(has_value_, "* or -> of a result that is an error", problem_.get());
    }
    void destroy() noexcept {
        if (has_value_) {
            value_.~T();
            has_value_ = false;
        }
    }

    union {
        T value_;
    };
    detail::error_slot problem_;
    bool has_value_{true};
};

/// The outcome of an operation that returns no value.
template <>
class [[nodiscard]] result<void> {
    template <class T>
    friend class result;

public:
    using value_type = void;             ///< what it holds
    using error_type = entitable::error; ///< what it holds otherwise

    result() = default;
    result(failure&& problem) noexcept : problem_(std::move(problem).release()) {} ///< fails
    /// Whether another result has a value, which is dropped; or its error: `return orders.insert(made);`
    template <class T>
    result(result<T> other) { // NOLINT: implicit on purpose
        if (!other) {
            *this = std::move(other).as_failure();
        }
    }

    [[nodiscard]] bool has_value() const noexcept { return problem_.empty(); } ///< whether it succeeded
    explicit operator bool() const noexcept { return problem_.empty(); }       ///< whether it succeeded
    /// Throws the error when there is one (ends the program without exceptions).
    ENTITABLE_LAZY void value() const {
        if (!problem_.empty()) {
            problem_.get().raise();
        }
    }
    /// Throws the error when there is one: `value()` by another name, for code that does not know what the result holds.
    void(check)() const { value(); }
    /// The error, where there is one: a success ends the program, by `ENTITABLE_ASSERT`.
    [[nodiscard]] error_type const& error() const {
        detail::error_slot::must_be_error(!problem_.empty());
        return problem_.get();
    }
    /// The error moved into a result of another type.
    [[nodiscard]] failure as_failure() && { return problem_.take(); }

private:
    detail::error_slot problem_;
};

template <class T>
void result<T>::fail_if(result<void>&& outcome) noexcept {
    if (problem_.take_over(outcome.problem_) && has_value_) {
        value_.~T();
        has_value_ = false;
    }
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/result.ipp>
#endif
