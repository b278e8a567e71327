// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `result<T>`: a value or an `error`, shaped like `std::expected<T, error>`, whose `*` and `->` are checked. The error lives on the heap:
/// a result holds the value, a pointer and a flag, and a success allocates nothing.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/assertion.hpp>
#include <entitable/core/detail/instantiated_entity.hpp>
#include <entitable/core/error.hpp>

#include <concepts>
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE

/// An error that converts to a failed result of any type: `return failure{error_code::..., "text"};`
class [[nodiscard]] failure {
public:
    /// Takes ownership of an error.
    explicit failure(entitable::error problem) : problem_(new entitable::error(std::move(problem))) {}
    /// Makes an error from a code and a message.
    failure(error_code code, std::string message) : problem_(new entitable::error(code, std::move(message))) {}
    /// Takes ownership of an error on the heap.
    explicit failure(entitable::error* problem) noexcept : problem_(problem) {}
    failure(failure&& other) noexcept : problem_(other.problem_) {
        other.problem_ = nullptr;
    } ///< leaves an empty failure
    failure& operator=(failure&&) = delete;
    ~failure() { delete problem_; }

    /// The error, to be completed; undefined after it was returned or released.
    [[nodiscard]] entitable::error& error() & noexcept { return *problem_; }
    /// Passes the error on the heap to the caller.
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
/// The error of a result whose own error was moved out.
ENTITABLE_LAZY [[nodiscard]] entitable::error const& taken_error() noexcept;

/// The part of a result that does not depend on its value.
class error_slot {
public:
    error_slot() = default; ///< no error
    explicit error_slot(entitable::error* problem) noexcept : problem_(problem != nullptr ? problem : taken()) {}
    error_slot(error_slot const& other)
        : problem_(other.holds() ? new entitable::error(*other.problem_) : other.problem_) {}
    error_slot(error_slot&& other) noexcept : problem_(other.problem_) {
        if (problem_ != nullptr) { other.problem_ = taken(); }
    }
    error_slot& operator=(error_slot other) noexcept {
        entitable::error* const held = problem_;
        problem_ = other.problem_;
        other.problem_ = held;
        return *this;
    }
    ~error_slot() {
        if (holds()) { delete problem_; }
    }

    [[nodiscard]] bool empty() const noexcept { return problem_ == nullptr; }
    [[nodiscard]] entitable::error const& get() const noexcept { return holds() ? *problem_ : taken_error(); }
    /// Ends the program unless there is an error to return.
    static void must_be_error(bool is_error) {
        ENTITABLE_ASSERT(is_error, "error() was called on a result that has a value",
            misuse("call error() only after testing the result"));
    }
    /// Throws the error of a result that has no value.
    void raise_unless(bool has_value) const {
        if (!has_value) { get().raise(); }
    }
    /// Takes the error of another slot; returns whether there was an error.
    [[nodiscard]] bool take_over(error_slot& other) noexcept {
        if (other.empty()) { return false; }
        *this = static_cast<error_slot&&>(other);
        return true;
    }
    [[nodiscard]] failure take() noexcept {
        entitable::error* const held = holds() ? problem_ : nullptr;
        problem_ = held != nullptr ? taken() : problem_;
        return failure{held};
    }

private:
    /// Marks a slot whose error was moved out: a failed result stays failed after a move. A constant rather than the address of an object:
    /// each shared library with hidden symbols would have its own object.
    [[nodiscard]] static entitable::error* taken() noexcept {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): never dereferenced
        return reinterpret_cast<entitable::error*>(~std::uintptr_t{});
    }
    [[nodiscard]] bool holds() const noexcept { return problem_ != nullptr && problem_ != taken(); }

    entitable::error* problem_{};
};

template <class T>
struct carried_entity {
    using type = T;
};
template <class T>
struct carried_entity<std::vector<T>> {
    using type = T;
};
template <class T>
struct carried_entity<updated<T>> {
    using type = T;
};
/// Whether ENTITABLE_EXTERN can keep the moves and the destruction of this value out of a file. Not header-only, where GCC would inline other
/// functions of the engine: reading a partition into a vector would take more instructions.
template <class T>
inline constexpr bool is_taken_apart =
#if defined(ENTITABLE_SEPARATE_COMPILATION)
    std::is_aggregate_v<typename carried_entity<T>::type>;
#else
    false;
#endif
template <class T>
using taken_apart = instantiated_entity<typename carried_entity<T>::type>;

} // namespace detail

/// The outcome of an operation: a `T`, or an `error`. Copyable when `T` is. A result that was moved from, or whose error was taken by
/// `as_failure`, stays a success or a failure: it has a moved-from value, or the error InvalidInput. Thread safety: one thread at a time.
template <class T>
class [[nodiscard]] result {
    template <class>
    friend struct detail::instantiated_entity;

public:
    using value_type = T;                ///< type of the value
    using error_type = entitable::error; ///< type of the error

    result(failure&& problem) noexcept
        : problem_(static_cast<failure&&>(problem).release()), has_value_(false) {} ///< makes a failure

    /// Makes a success; the conversion is implicit if the conversion to `T` is.
    template <class U = T>
        requires(!std::same_as<std::remove_cvref_t<U>, result> && !std::same_as<std::remove_cvref_t<U>, failure> &&
            !std::same_as<std::remove_cvref_t<U>, std::in_place_t> && std::is_constructible_v<T, U>)
    explicit(!std::is_convertible_v<U, T>) result(U&& value) : value_(std::forward<U>(value)) {}

    /// Constructs the value in place, so that a large entity is never moved.
    template <class... Arguments>
    explicit result(std::in_place_t, Arguments&&... arguments) : value_(std::forward<Arguments>(arguments)...) {}

    /// Copies the value or the error.
    result(result const& other) : problem_(other.problem_), has_value_(other.has_value_) {
        if (has_value_) { ::new (static_cast<void*>(&value_)) T(other.value_); }
    }
    /// Moves the value or the error.
    result(result&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
        : problem_(static_cast<detail::error_slot&&>(other.problem_)), has_value_(other.has_value_) {
        if (has_value_) { ::new (static_cast<void*>(&value_)) T(static_cast<T&&>(other.value_)); }
    }
    /// If the move of `T` throws, this becomes an InternalError.
    result& operator=(result other) noexcept(std::is_nothrow_move_constructible_v<T>) {
        if constexpr (!std::is_nothrow_move_constructible_v<T>) {
            detail::error_slot interrupted{
                new entitable::error(error_code::internal_error, "the move constructor of the value threw")};
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
    /// Becomes a failure; used for a result that is filled in place and never moved.
    result& operator=(failure&& problem) noexcept {
        destroy();
        problem_ = detail::error_slot{static_cast<failure&&>(problem).release()};
        return *this;
    }
    /// Becomes a failure with the error of `outcome` if that failed; used when a step that may fail fills the result in
    /// place.
    void fail_if(result<void>&& outcome) noexcept;
    ~result() {
        if constexpr (detail::is_taken_apart<T>) {
            detail::taken_apart<T>::drop(*this);
        } else {
            drop();
        }
    }

    /// Whether there is a value.
    [[nodiscard]] bool has_value() const noexcept { return has_value_; }
    explicit operator bool() const noexcept { return has_value_; } ///< whether there is a value

    /// Returns the value; throws the error if there is none (without exceptions, ends the program).
    [[nodiscard]] T& value() & {
        problem_.raise_unless(has_value_);
        return value_;
    }
    [[nodiscard]] T const& value() const& {
        problem_.raise_unless(has_value_);
        return value_;
    }
    T value() && {
        if constexpr (detail::is_taken_apart<T>) {
            return detail::taken_apart<T>::take(*this);
        } else {
            problem_.raise_unless(has_value_);
            return static_cast<T&&>(value_);
        }
    }
    /// Throws the error if there is one, like `value()`, and returns nothing; used for a named result whose value is
    /// not needed.
    void(check)() const { problem_.raise_unless(has_value_); } // in parentheses: `check` is a macro of <AssertMacros.h>

    /// Returns the value; a failed result ends the program with the error's text, by `ENTITABLE_ASSERT`.
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
    /// Accesses a member of the value; checked like `*`.
    [[nodiscard]] T* operator->() {
        must_have_value();
        return &value_;
    }
    [[nodiscard]] T const* operator->() const {
        must_have_value();
        return &value_;
    }

    /// Returns the error; a success ends the program, by `ENTITABLE_ASSERT`.
    [[nodiscard]] error_type const& error() const {
        problem_.must_be_error(!has_value_);
        return problem_.get();
    }

    /// Moves the error into a result of a different type: `if (!r) return std::move(r).as_failure();`
    [[nodiscard]] failure as_failure() && { return problem_.take(); }

    /// Returns the value, or `otherwise` if there is none.
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
        if (!has_value()) { return problem_.take(); }
        return next(static_cast<T&&>(value_));
    }

    /// Returns the result of `change(value)`, or the error.
    template <class Change>
    auto transform(Change&& change) && -> result<std::remove_cvref_t<decltype(change(std::declval<T&&>()))>> {
        if (!has_value()) { return problem_.take(); }
        return change(static_cast<T&&>(value_));
    }

private:
    void must_have_value() const {
        ENTITABLE_ASSERT(has_value_, "* or -> was used on a result that has an error", problem_.get());
    }
    void destroy() noexcept {
        if (has_value_) {
            value_.~T();
            has_value_ = false;
        }
    }
    void drop() noexcept {
        if (has_value_) { value_.~T(); }
        problem_.~error_slot();
    }

    union {
        T value_;
    };
    // In a union as well, so that the destructor is one call. While there is a value, the slot is empty.
    union {
        detail::error_slot problem_{};
    };
    bool has_value_{true};
};

/// The outcome of an operation without a value.
template <>
class [[nodiscard]] result<void> {
    template <class T>
    friend class result;

public:
    using value_type = void;             ///< no value
    using error_type = entitable::error; ///< type of the error

    result() = default;
    result(failure&& problem) noexcept : problem_(std::move(problem).release()) {} ///< makes a failure
    /// Takes success or failure from another result and drops the value: `return orders.insert(made);`
    template <class T>
    result(result<T> other) { // NOLINT: implicit on purpose
        if (!other) { *this = std::move(other).as_failure(); }
    }

    [[nodiscard]] bool has_value() const noexcept { return problem_.empty(); } ///< whether it succeeded
    explicit operator bool() const noexcept { return problem_.empty(); }       ///< whether it succeeded
    /// Throws the error if there is one (without exceptions, ends the program).
    ENTITABLE_LAZY void value() const {
        if (!problem_.empty()) { problem_.get().raise(); }
    }
    /// Does the same as `value()`, for generic code over any type of value.
    void(check)() const { value(); }
    /// Returns the error; a success ends the program, by `ENTITABLE_ASSERT`.
    [[nodiscard]] error_type const& error() const {
        detail::error_slot::must_be_error(!problem_.empty());
        return problem_.get();
    }
    /// Moves the error into a result of a different type.
    [[nodiscard]] failure as_failure() && { return problem_.take(); }

private:
    detail::error_slot problem_;
};

/// \cond
namespace detail {

template <class Entity>
Entity instantiated_entity<Entity>::take(result<Entity>& from) {
    from.problem_.raise_unless(from.has_value_);
    return static_cast<Entity&&>(from.value_);
}
template <class Entity>
std::vector<Entity> instantiated_entity<Entity>::take(result<std::vector<Entity>>& from) {
    from.problem_.raise_unless(from.has_value_);
    return static_cast<std::vector<Entity>&&>(from.value_);
}
template <class Entity>
updated<Entity> instantiated_entity<Entity>::take(result<updated<Entity>>& from) {
    from.problem_.raise_unless(from.has_value_);
    return static_cast<updated<Entity>&&>(from.value_);
}
template <class Entity>
void instantiated_entity<Entity>::drop(result<Entity>& from) noexcept {
    from.drop();
}
template <class Entity>
void instantiated_entity<Entity>::drop(result<std::vector<Entity>>& from) noexcept {
    from.drop();
}
template <class Entity>
void instantiated_entity<Entity>::drop(result<updated<Entity>>& from) noexcept {
    from.drop();
}

} // namespace detail
/// \endcond

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

#endif
