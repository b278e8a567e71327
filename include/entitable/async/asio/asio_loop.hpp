// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `asio_loop`: an event loop on an executor of Boost.Asio; `async_run`: a task with a completion token.

#include <entitable/async/asio/detail/asio_driver.hpp>
#include <entitable/async/event_loop.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The loop, its driver, and the timer that runs its turns.
class asio_state : public std::enable_shared_from_this<asio_state> {
public:
    asio_state(boost::asio::any_io_executor const& on, loop_options options)
        : on_(boost::asio::make_strand(on)),
          timer_(on_),
          driver_(on_, [this] { turn_soon(); }),
          loop_(driver_, without_letters(options)) {}

    [[nodiscard]] event_loop& loop() noexcept { return loop_; }
    [[nodiscard]] boost::asio::any_io_executor const& on() const noexcept { return on_; }
    /// Runs a turn as soon as the current code has returned.
    void turn_soon() {
        if (!std::exchange(turns_, true)) {
            boost::asio::post(on_, [self = weak_from_this()] {
                if (auto const alive = self.lock()) { alive->turn(); }
            });
        }
    }

private:
    static loop_options without_letters(loop_options options) {
        options.letters = false; // a watched pipe would prevent the io_context from ending
        return options;
    }
    void turn() {
        struct at_end { // an exception thrown by a task leaves io_context::run, which may be called again
            asio_state& of;
            ~at_end() { of.wait(); }
        } const then{*this};
        turns_ = false;
        (void)loop_.turn();
    }
    void wait() {
        steady_time const wakes = loop_.wakes_at();
        if (wakes == (steady_time::min)()) { return turn_soon(); }
        if (wakes == (steady_time::max)()) {
            wakes_ = wakes;
            timed_ = false;
            timer_.cancel();
        } else if (wakes != wakes_ || !timed_) {
            wakes_ = wakes;
            timed_ = true;
            timer_.expires_at(wakes); // this also ends the previous wait
            timer_.async_wait([self = weak_from_this()](boost::system::error_code const& ended) {
                if (auto const alive = self.lock(); alive && !ended) {
                    alive->timed_ = false;
                    alive->turn_soon();
                }
            });
        }
    }

    boost::asio::any_io_executor on_;
    boost::asio::steady_timer timer_;
    asio_driver driver_;
    event_loop loop_; // destroyed first
    steady_time wakes_{(steady_time::max)()};
    bool turns_{};
    bool timed_{};
};

} // namespace detail

/// An event loop on an `io_context` of the program: its descriptors and timers wait there, and `io_context::run` returns when no work is
/// left. It uses its own strand, so the context may be run by several threads.
///
/// Objects made for its loop (tables, sequences, semaphores) are used by tasks, which run on that strand. A transport without channels
/// blocks the thread that runs the strand during each request.
///
/// Thread safety: other threads may only call `async_run` and `spawn`. Unfinished tasks are destroyed with this object, on the thread that
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
        boost::asio::dispatch(state_->on(), [state = state_, begun = std::move(begun)]() mutable {
            state->loop().spawn(std::move(begun));
            state->turn_soon();
        });
    }

private:
    std::shared_ptr<detail::asio_state> state_;
};

namespace detail {

/// Runs a task, and passes its result to a handler, on the handler's executor.
template <class Handler, class T>
task<> tell_handler(boost::asio::any_io_executor on, task<T> work, Handler handler) {
    auto const to = boost::asio::get_associated_executor(handler, on);
    auto const busy = boost::asio::make_work_guard(to);
    std::exception_ptr thrown;
    std::optional<T> value;
#if ENTITABLE_HAS_EXCEPTIONS
    try {
        value.emplace(co_await std::move(work));
    } catch (...) { thrown = std::current_exception(); }
#else
    value.emplace(co_await std::move(work));
#endif
    if (!value) { value.emplace(failure{error_code::internal_error, "an exception escaped the task"}); }
    boost::asio::post(to, [handler = std::move(handler), thrown, value = *std::move(value)]() mutable {
        std::move(handler)(thrown, std::move(value));
    });
}

template <class T>
struct tell_initiation {
    template <class Handler>
    void operator()(Handler&& handler, asio_loop* loop, task<T> work) const {
        loop->spawn(
            tell_handler(loop->get_executor(), std::move(work), std::decay_t<Handler>(std::forward<Handler>(handler))));
    }
};

} // namespace detail

/// Runs a task that returns a `result` in the loop, and completes a token with it: a callback `(std::exception_ptr, result<T>)`,
/// `use_awaitable`, `use_future`, `deferred`. The exception is the task's exception; awaitables and futures throw it. Safe to use
/// from any thread. The loop must outlive the task.
template <class T, class Token>
auto async_run(asio_loop& loop, task<result<T>> work, Token&& token) {
    return boost::asio::async_initiate<Token, void(std::exception_ptr, result<T>)>(
        detail::tell_initiation<result<T>>{}, token, &loop, std::move(work));
}

ENTITABLE_END_NAMESPACE
