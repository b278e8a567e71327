// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `task<T>`: a coroutine that starts when it is awaited, and is owned by the coroutine that awaits it.

#include <entitable/async/detail/parked.hpp>
#include <entitable/async/detail/trampoline.hpp>

#include <concepts>
#include <exception>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE

template <class T = void>
class task;

namespace detail {

/// The coroutine to resume when tasks end. Counts these tasks and the coroutine; the last of them to end resumes the coroutine.
struct task_group {
    std::coroutine_handle<> waiting;
    std::size_t left{};
};

class task_promise_base;

/// A task that awaits another one: lets the frames of a chain be destroyed from its end, without depth of the stack.
struct task_link {
    task_promise_base* waiting{}; ///< null if the awaiting coroutine is not a `task`
    task_promise_base* awaited{};
    std::coroutine_handle<>* owner{}; ///< the handle that owns the awaited frame
};

class task_promise_base {
public:
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    struct at_end {
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<>) const noexcept {
            if (group != nullptr && --group->left == 0) { trampoline::then(group->waiting); }
        }
        void await_resume() const noexcept {}

        task_group* group;
    };
    [[nodiscard]] at_end final_suspend() const noexcept { return {group}; }
    void unhandled_exception() noexcept { thrown = std::current_exception(); }

    /// Destroys a frame, and the frames of the tasks that it awaits before it.
    static void destroy(std::coroutine_handle<> frame, task_promise_base& promise) noexcept {
        task_promise_base* last = &promise;
        while (last->awaits != nullptr) { last = last->awaits->awaited; }
        while (last != &promise) {
            task_link& link = *last->awaited_by;
            last = link.waiting;
            last->awaits = nullptr;
            std::exchange(*link.owner, {}).destroy();
        }
        frame.destroy();
    }

    task_group* group{};
    std::exception_ptr thrown;
    task_link* awaits{};     ///< the task that this one waits for, if it awaits it directly
    task_link* awaited_by{}; ///< the task that waits for this one, if it awaits it directly
};

template <class T>
class task_promise final : public task_promise_base {
public:
    [[nodiscard]] task<T> get_return_object() noexcept;
    template <class U = T>
        requires std::constructible_from<T, U>
    void return_value(U&& value) {
        value_.emplace(std::forward<U>(value));
    }
    [[nodiscard]] T take() { return *std::move(value_); }

private:
    std::optional<T> value_;
};

template <>
class task_promise<void> final : public task_promise_base {
public:
    [[nodiscard]] inline task<void> get_return_object() noexcept;
    void return_void() const noexcept {}
    void take() const noexcept {}
};

} // namespace detail

/// Owns a coroutine that starts when it is awaited; movable. It is awaited once, by `co_await std::move(work)`, or passed to
/// `event_loop::spawn` or to a combinator. Awaiting it returns its result, or rethrows its exception.
///
/// Write coroutines as functions with parameters by value: the target of a reference parameter, or the captures of a lambda, may be
/// destroyed before the coroutine resumes. Do not destroy a running task; only its loop may.
///
/// Thread safety: only the loop's thread.
template <class T>
class [[nodiscard]] task {
public:
    using promise_type = detail::task_promise<T>; ///< required by the compiler
    using value_type = T;                         ///< type of the result

    task() = default;                                                             ///< an empty task
    task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {} ///< takes over the coroutine
    /// Destroys its old coroutine.
    task& operator=(task other) noexcept {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~task() {
        if (frame_) { detail::task_promise_base::destroy(frame_, promise()); }
    }

    explicit operator bool() const noexcept { return static_cast<bool>(frame_); } ///< whether it owns a coroutine

    /// Waits for the end of a task that it owns.
    class awaiter {
    public:
        /// Takes ownership of this task.
        explicit awaiter(task awaited) noexcept : awaited_(std::move(awaited)) {}
        awaiter(awaiter const&) = delete;
        awaiter& operator=(awaiter const&) = delete;

        ~awaiter() { unlink(); }

        [[nodiscard]] bool await_ready() const noexcept { return false; } ///< starts after `await_suspend`
        /// Lets the task start as soon as the awaiting coroutine is suspended.
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> waiting) {
            group_ = {waiting, 1};
            auto& promise = awaited_.promise();
            promise.group = &group_;
            if constexpr (std::derived_from<Promise, detail::task_promise_base>) {
                link_ = {&waiting.promise(), &promise, &awaited_.frame_};
                waiting.promise().awaits = &link_;
                promise.awaited_by = &link_;
            }
            detail::trampoline::then(awaited_.frame_);
        }
        /// Returns the result; rethrows an exception.
        T await_resume() {
            unlink();
            return awaited_.take();
        }

    private:
        void unlink() noexcept {
            if (link_.waiting != nullptr) { std::exchange(link_.waiting, nullptr)->awaits = nullptr; }
        }

        task awaited_;
        detail::task_group group_;
        detail::task_link link_;
    };

    /// Starts the task and waits for its end. Throws InvalidInput if the task is empty: awaited before, or moved from.
    [[nodiscard]] awaiter operator co_await() && {
        require_one();
        return awaiter{std::move(*this)};
    }

    // ---- for combinators ----

    /// Throws if the task is empty.
    void require_one() const {
        if (!frame_) {
            error{error_code::invalid_input,
                "a task can only be awaited once: this task was already awaited, or moved from"}
                .raise();
        }
    }
    /// Starts the task as a member of a group, which must outlive the task.
    void begin(detail::task_group& group) {
        promise().group = &group;
        detail::trampoline::run(frame_);
    }
    /// Whether it has started and ended.
    [[nodiscard]] bool ended() const noexcept { return frame_ && frame_.done(); }
    /// Returns its result, at its end; rethrows an exception.
    T take() {
        if (auto const& thrown = promise().thrown) { std::rethrow_exception(thrown); }
        return promise().take();
    }

private:
    friend promise_type;
    explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    [[nodiscard]] promise_type& promise() const noexcept {
        return std::coroutine_handle<promise_type>::from_address(frame_.address()).promise();
    }

    std::coroutine_handle<> frame_;
};

namespace detail {

template <class T>
task<T> task_promise<T>::get_return_object() noexcept {
    return task<T>{std::coroutine_handle<task_promise>::from_promise(*this)};
}
inline task<void> task_promise<void>::get_return_object() noexcept {
    return task<void>{std::coroutine_handle<task_promise>::from_promise(*this)};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
