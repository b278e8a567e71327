// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `asio_loop`: an event loop on an executor of Boost.Asio; `async_run` and `async_call`: awaited calls with a completion token.

#include <entitable/async/asio/detail/asio_call.hpp>
#include <entitable/async/asio/detail/asio_state.hpp>
#include <entitable/async/asio/error_category.hpp>
#include <entitable/async/event_loop.hpp>

#include <boost/asio/dispatch.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// An event loop on an `io_context` of the program: its descriptors and timers wait there, and `io_context::run` returns when no work is
/// left. It uses its own strand, so the context may be run by several threads.
///
/// Objects made for its loop (tables, sequences, semaphores) are used by tasks, which run on that strand. A transport without channels
/// blocks the thread that runs the strand during each request.
///
/// Thread safety: other threads may only call `async_run`, `async_call`, `spawn` and `stop`, and the calls of an `asio_table`. Unfinished tasks are destroyed with this object, on the thread that
/// destroys it, while no other thread runs the context.
class asio_loop {
public:
    /// Runs on this executor, of an `io_context` or a `thread_pool`. `options.time` and `options.letters` have no effect.
    explicit asio_loop(boost::asio::any_io_executor const& on, loop_options const& options = {})
        : state_(std::make_shared<detail::asio_state>(on, options)) {}
    asio_loop(asio_loop const&) = delete;
    asio_loop& operator=(asio_loop const&) = delete;
    ~asio_loop() = default;

    /// Returns the loop that tables, sequences and semaphores are made for. Do not run it: the executor does.
    [[nodiscard]] event_loop& loop() noexcept { return state_->loop(); }
    /// Returns the strand of the loop.
    [[nodiscard]] boost::asio::any_io_executor const& get_executor() const noexcept { return state_->on(); }
    /// Takes over a task, which starts soon. Its error is stored in `loop().error()`; an exception is thrown by `io_context::run`. Safe
    /// to use from any thread.
    template <class T>
    void spawn(task<T> begun) {
        boost::asio::dispatch(state_->on(),
            [state = state_, begun = std::move(begun)]() mutable { state->loop().spawn(std::move(begun)); });
    }
    /// Ends every call under way, and every later call, with Cancelled: `event_loop::stop`, from any thread. `io_context::run` returns when
    /// all handlers have been called.
    void stop() {
        boost::asio::dispatch(state_->on(), [state = state_] { state->loop().stop(); });
    }
    /// Used by calls with a completion token.
    [[nodiscard]] std::shared_ptr<detail::asio_state> const& state() const noexcept { return state_; }

private:
    std::shared_ptr<detail::asio_state> state_;
};

namespace detail {

template <class First, class...>
struct first_of_types {
    using type = First;
};

/// What follows the parameters of a call: a completion token, or `call_diagnostics` and a token.
template <class... Rest>
concept call_completion = sizeof...(Rest) == 1 ||
    (sizeof...(Rest) == 2 && std::same_as<call_diagnostics&, typename first_of_types<Rest..., void>::type>);

/// Starts a call that completes `void(error_code, T)`.
template <class Make, class Token>
auto begin_coded_call(asio_loop_name in, Make make, call_diagnostics* whole, Token&& token) {
    using value = typename awaited_result<std::invoke_result_t<Make&, asio_state&>>::type;
    return begin_call<value>(std::move(in), tells_code{whole}, std::forward<Token>(token), std::move(make));
}
template <class Make, class Token>
auto begin_coded_call(asio_loop_name in, Make make, Token&& token) {
    return begin_coded_call(
        std::move(in), std::move(make), static_cast<call_diagnostics*>(nullptr), std::forward<Token>(token));
}
template <class Make, class Token>
auto begin_coded_call(asio_loop_name in, Make make, call_diagnostics& whole, Token&& token) {
    return begin_coded_call(std::move(in), std::move(make), &whole, std::forward<Token>(token));
}

/// Gives a task away when its call begins.
template <class T>
struct given_task {
    task<result<T>> work;

    task<result<T>> operator()(asio_state&) { return std::move(work); }
};

/// Calls a function of the program with the loop.
template <class Function>
struct loop_function {
    Function function;

    decltype(auto) operator()(asio_state& in) { return function(in.loop()); }
};

} // namespace detail

/// Runs a task that returns a `result` in the loop, and completes a token with it: a callback `(std::exception_ptr, result<T>)`,
/// `use_awaitable`, `use_future`, `deferred`. The exception is the task's exception; awaitables and futures throw it. Cancellation and
/// executors are those of `async_call`. Safe to use from any thread. The loop must outlive the task.
template <class T, class Token>
auto async_run(asio_loop& loop, task<result<T>> work, Token&& token) {
    return detail::begin_call<T>(detail::asio_loop_name{loop.state()}, detail::tells_result{},
        std::forward<Token>(token), detail::given_task<T>{std::move(work)});
}

/// Calls `function(event_loop&)` on the strand of the loop, and awaits what it returns: any awaitable of this library that returns a
/// `result<T>`. Completes `void(boost::system::error_code, T)`, or `void(boost::system::error_code)` if T is void; T is
/// default-constructed on failure. The arguments after the function are a completion token, or `call_diagnostics&` and a token.
///
/// Work is kept on the executor of the handler and on that of the loop from the initiation on. The handler is called through its executor,
/// never from inside the initiation. The memory of the call comes from the allocator of the handler, and is freed before it is called.
///
/// Cancellation (Boost 1.77 or newer): `terminal` and `partial` end the call at once, with its request under way; a write may have the
/// effect `unknown` then. `total` ends it only while no write was sent. The call then completes with `operation_aborted`.
///
/// Errors: those of the awaited call; InternalError if a function of the program throws. Cancelled if the loop no longer exists.
///
/// Thread safety: safe to use from any thread.
template <class Function, class... Rest>
    requires detail::call_completion<Rest...>
auto async_call(asio_loop& loop, Function function, Rest&&... diagnostics_and_token) {
    return detail::begin_coded_call(detail::asio_loop_name{loop.state()},
        detail::loop_function<Function>{std::move(function)}, std::forward<Rest>(diagnostics_and_token)...);
}

ENTITABLE_END_NAMESPACE
