// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `event_loop`: runs concurrent tasks on the calling thread.

#include <entitable/async/detail/loop_core.hpp>
#include <entitable/async/task.hpp>
#include <entitable/core/result.hpp>

#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a loop.
struct loop_options {
    std::size_t in_flight{
        500}; ///< maximum number of requests in flight, to all transports; further requests are queued; 0 counts as 1
    clock* time{&system_clock()}; ///< clock of the driver that the loop makes; must outlive the loop
    bool letters{true};           ///< whether other threads may `post`: the loop opens a pipe for that
    /// How long a turn may take: work that is left then waits for the next turn, so that a program with other work in its thread stays
    /// responsive. A single function of the program may take longer. A clock that stands still sets no limit.
    std::chrono::nanoseconds turn{std::chrono::milliseconds{1}};
    std::size_t steps{
        1024}; ///< maximum number of steps of a turn: tasks resumed or started, requests sent; 0 counts as 1
};

namespace detail {

template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<result<T>> = true;

/// A queue in one piece of memory.
template <class T>
class waiting_line {
public:
    [[nodiscard]] bool empty() const noexcept { return next_ == all_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size() - next_; }
    void push_back(T one) {
        if (next_ > size()) { // more places are used up than waiting
            all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(next_));
            next_ = 0;
        }
        all_.push_back(std::move(one));
    }
    [[nodiscard]] T pop_front() { return std::move(all_[next_++]); }

private:
    std::vector<T> all_;
    std::size_t next_{};
};

/// The promise of a coroutine that only its loop awaits. Its frame is destroyed at its end, or by its loop.
class spawned_frame : public ring_link {
public:
    std::coroutine_handle<> frame;
    spawned_frame* next_posted{}; ///< used before the loop owns it

protected:
    spawned_frame() = default;
    ~spawned_frame() = default;
};

/// A coroutine that only its loop awaits.
class spawned_task {
public:
    class promise_type final : public spawned_frame {
    public:
        [[nodiscard]] spawned_task get_return_object() noexcept {
            frame = std::coroutine_handle<promise_type>::from_promise(*this);
            return spawned_task{*this};
        }
        [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
        [[nodiscard]] std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); } // its body does not throw
    };

    [[nodiscard]] spawned_frame& promise() const noexcept { return promise_; }

private:
    explicit spawned_task(spawned_frame& of) noexcept : promise_(of) {}

    spawned_frame& promise_;
};

} // namespace detail

/// Runs tasks on the calling thread, and waits for all their requests and timers. Must outlive its tasks and the tables made for it.
///
/// Structured: `run` returns when every spawned task has ended. The first error that a spawned task returns is stored (`problem`); the
/// first exception that leaves a task is thrown by `turn` or `run`, which may be called again.
///
/// Requests to one transport go through one channel, which stays open as long as the loop: pass the same `any_store` to all tables of a
/// store. A transport that responds immediately is called directly; a transport without its own channels blocks the loop during each
/// request. Locks and waits in the program block the loop too, and so does a transport that waits on a clock other than that of the loop.
///
/// Thread safety: one thread at a time, except `post`.
class event_loop {
public:
    /// Makes its own driver.
    explicit event_loop(loop_options const& options = {})
        : own_(std::make_unique<poll_driver>(*options.time)),
          core_(*own_, options.in_flight, options.letters),
          turn_(options.turn),
          steps_(options.steps) {}
    /// Uses this driver, which must outlive the loop; `options.time` has no effect.
    explicit event_loop(io_driver& io, loop_options const& options = {})
        : core_(io, options.in_flight, options.letters), turn_(options.turn), steps_(options.steps) {}
    event_loop(event_loop const&) = delete;
    event_loop& operator=(event_loop const&) = delete;
    /// Destroys unfinished tasks where they wait. Their pending requests may or may not take effect: call `stop` and `run` first. Ends the
    /// process if a task or a posted function destroys the loop that runs it.
    ~event_loop() {
        if (runs_) {
            entitable::error{
                error_code::invalid_input, "an event_loop must not be destroyed by a task or a function that it runs"}
                .raise();
        }
        core_.close_ways();
        while (!tasks_.alone()) { static_cast<detail::spawned_frame&>(*tasks_.next()).frame.destroy(); }
    }

    /// Takes over a task, which starts in the next turn.
    template <class T>
    void spawn(task<T> begun) {
        take_over(own(*this, std::move(begun)).promise());
    }
    /// Used by other kinds of spawned coroutines: owns the coroutine, and starts it in the next turn.
    void take_over(detail::spawned_frame& begun) {
        begun.link_before(tasks_); // even if the next line throws, the loop destroys the frame
        fresh_.push_back(begun.frame);
        ++spawned_;
        core_.io().wake();
    }
    /// Runs until every task has ended. If no event is left that could wake a task, a loop with `letters` waits for a `post`; a loop
    /// without `letters` ends all operations with TransportFailed, including later operations, and throws that error if tasks still wait.
    void run() {
        while (turn()) { wait(); }
    }
    /// Runs until this task has ended, and returns its result; other tasks run in the meantime. If an exception leaves this task or a
    /// spawned task, destroys this task where it waits, and rethrows the exception.
    template <class T>
    T run(task<T> awaited) {
        awaited.require_one();
        detail::task_group group{std::noop_coroutine(), 2}; // one more than the tasks, so the group never resumes
        awaited.begin(group);
        while (!awaited.ended()) {
            (void)turn();
            if (!awaited.ended()) { wait(); }
        }
        return awaited.take();
    }
    /// Runs, even without tasks, until `stop` was called and every task has ended; used by a thread to which other threads `post`.
    void run_until_stopped() {
        while (turn() || core_.root().ended() == nullptr) { wait(); }
    }
    /// Does work that is possible without waiting, within the limits `loop_options::turn` and `steps`; used by programs with their own loop.
    /// If work is left, `wakes_at` returns a time in the past. Returns whether there are tasks.
    bool turn() {
        struct running {
            bool& now;
            bool before;
            ~running() { now = before; }
        } const until_the_end{runs_, std::exchange(runs_, true)};
        if (auto& mailbox = core_.mailbox()) {
            for (auto& letter : mailbox->take()) { letters_.push_back(std::move(letter)); }
        }
        steady_time const now = core_.time().steady();
        detail::turn_limit limit{core_.time(), detail::time_after(now, turn_), steps_};
        for (std::size_t count = 0; !letters_.empty() && limit.allows(count); ++count) {
            auto const letter = letters_.pop_front();
            letter();
        }
        core_.fire_timers(now, limit);
        core_.look_at_tokens();
        core_.poll(now, limit);
        core_.resume_ready(limit);
        start_fresh(limit);
        if (thrown_) { std::rethrow_exception(std::exchange(thrown_, {})); }
        return !tasks_.alone();
    }
    /// Returns the time at which `turn` has work even if nothing arrives at the driver.
    [[nodiscard]] steady_time wakes_at() const {
        return fresh_.empty() && letters_.empty() ? core_.wakes_at() : (steady_time::min)();
    }
    /// Ends every operation in flight, and every operation started later, with Cancelled. Tasks resume with that error. Permanent: a
    /// stopped loop sends no more requests.
    void stop() { core_.root().end({error_code::cancelled, "the loop was stopped"}); }
    /// Calls a function in one of the next turns, on the thread of the loop, and wakes the loop. Safe to use from any thread. An exception
    /// thrown by the function leaves `turn`. Returns false if the loop has no `letters`.
    bool post(std::function<void()> function) {
        auto& mailbox = core_.mailbox();
        if (mailbox) { mailbox->post(std::move(function)); }
        return mailbox.has_value();
    }

    /// Returns the first error that a spawned task returned; empty if there was none.
    [[nodiscard]] std::optional<entitable::error> const& error() const noexcept { return problem_; }
    /// Returns the number of tasks spawned so far.
    [[nodiscard]] std::uint64_t spawned() const noexcept { return spawned_; }
    /// Returns the driver that the loop waits in.
    [[nodiscard]] io_driver& io() const noexcept { return core_.io(); }
    /// Used by awaitables.
    [[nodiscard]] detail::loop_core& core() noexcept { return core_; }

private:
    template <class T>
    static detail::spawned_task own(event_loop& loop, task<T> begun) {
#if ENTITABLE_HAS_EXCEPTIONS
        try {
#endif
            if constexpr (detail::is_result<T>) {
                auto outcome = co_await std::move(begun);
                if (!outcome && !loop.problem_) { loop.problem_.emplace(outcome.error()); }
            } else {
                (void)co_await std::move(begun);
            }
#if ENTITABLE_HAS_EXCEPTIONS
        } catch (...) {
            if (!loop.thrown_) { loop.thrown_ = std::current_exception(); }
        }
#endif
    }
    /// Starts spawned tasks. Polls in between begin their requests, so that this work counts too: as many tasks start between two polls as
    /// take an eighth of a turn, because a channel may send together what it receives between polls.
    void start_fresh(detail::turn_limit& limit) {
        constexpr std::size_t least = 8;
        if (fresh_.empty()) { return; }        // without looking at the clock
        std::size_t const all = fresh_.size(); // those that are spawned meanwhile start in the next turn
        std::size_t between_polls = least;
        std::size_t polls_at = least;
        steady_time since = core_.time().steady();
        for (std::size_t count = 0; count < all && limit.allows(count); ++count) {
            if (count == polls_at) {
                steady_time const now = core_.time().steady();
                core_.poll(now, limit);
                steady_time const polled = core_.time().steady();
                between_polls = polled - since < turn_ / 8 ? between_polls * 2 : least;
                polls_at += between_polls;
                since = polled;
            }
            auto const next = fresh_.pop_front();
            core_.enter(core_.root());
            detail::trampoline::run(next);
            core_.enter(core_.root());
        }
    }
    /// Waits for the events that the tasks wait for.
    void wait() {
        steady_time const wakes = wakes_at();
        if (wakes == (steady_time::max)() && !core_.io().watches()) {
            entitable::error silent{error_code::transport_failed, "deadlock: every task is waiting"};
            if (core_.root().ended() != nullptr) { silent.raise(); }
            core_.root().end(silent);
        } else if (wakes != (steady_time::min)() ||
            (++busy_turns_ % turns_between_looks == 0 && core_.io().watches())) {
            core_.io().wait(wakes);
        }
    }

    std::unique_ptr<poll_driver> own_;
    detail::loop_core core_;
    detail::ring_link tasks_;
    detail::waiting_line<std::coroutine_handle<>> fresh_;        ///< spawned coroutines that have not started
    detail::waiting_line<detail::loop_mailbox::letter> letters_; ///< posted functions that have not run
    std::chrono::nanoseconds turn_;
    std::size_t steps_;
    /// Tasks that are always ready do not keep the loop from its descriptors.
    static constexpr unsigned turns_between_looks = 8;
    unsigned busy_turns_{};
    std::uint64_t spawned_{};
    bool runs_{}; ///< a turn is running
    std::optional<entitable::error> problem_;
    std::exception_ptr thrown_;
};

ENTITABLE_END_NAMESPACE
