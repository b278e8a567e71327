// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Scopes: `when_any` and `with_timeout` cancel the waits of tasks, and wait for the tasks to end.

#include <entitable/async/event_loop.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The task that ended first.
template <class T>
struct first_of {
    std::size_t index; ///< index of the operation, from 0
    T value;           ///< result of the operation
};

namespace detail {

/// Tasks in their own scope, inside the scope in which they are awaited.
class scoped : protected parked {
protected:
    explicit scoped(loop_core& core) noexcept : core_(core) {}
    ~scoped() { core_.timers().remove(*this); }

    /// Starts the tasks by `begin()`, in the scope.
    template <class Begin>
    bool begin_in_scope(std::coroutine_handle<> frame, std::size_t count, Begin const& begin) {
        around_ = &core_.scope();
        inside_.emplace(around_);
        group_ = {frame, count + 1};
        core_.enter(*inside_);
        begin();
        core_.enter(*around_);
        return --group_.left != 0;
    }
    void leave_scope() noexcept {
        core_.timers().remove(*this);
        core_.enter(*around_);
    }

    loop_core& core_;
    std::optional<wait_scope> inside_;
    task_group group_;

private:
    void end_early(error const&) override {} // nothing to do: the scope ends with the enclosing scope

    wait_scope* around_{};
};

/// Waits for a task, at most until a given time.
template <class T>
class timed_task final : scoped {
public:
    timed_task(loop_core& core, std::chrono::nanoseconds timeout, task<T> timed) noexcept
        : scoped(core), timeout_(timeout), task_(std::move(timed)) {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> frame) {
        return begin_in_scope(frame, 1, [&] {
            wakes = time_after(core_.time().steady(), timeout_);
            core_.timers().add(*this);
            task_.begin(group_);
        });
    }
    T await_resume() {
        leave_scope();
        return task_.take();
    }

private:
    void timer_fired() override {
        inside_->end({error_code::deadline_exceeded, "the time limit of with_timeout has passed"});
    }

    std::chrono::nanoseconds timeout_;
    task<T> task_;
};

/// Waits for the first of several tasks, then cancels the other tasks and waits for them.
template <class T>
class any_of_many final : scoped {
public:
    any_of_many(loop_core& core, std::vector<task<T>> tasks) : scoped(core) {
        tasks_.reserve(tasks.size());
        for (auto& each : tasks) { tasks_.push_back(watch(*this, tasks_.size(), std::move(each))); }
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> frame) {
        return begin_in_scope(frame, tasks_.size(), [&] {
            for (auto& each : tasks_) { each.begin(group_); }
        });
    }
    first_of<T> await_resume() {
        leave_scope();
        for (auto& each : tasks_) {
            each.take(); // rethrows an exception
        }
        if (!first_) { error{error_code::invalid_input, "when_any needs at least one task"}.raise(); }
        return *std::move(first_);
    }

private:
    static task<> watch(any_of_many& all, std::size_t index, task<T> one) {
        T value = co_await std::move(one);
        if (!all.first_) {
            all.first_.emplace(index, std::move(value));
            all.inside_->end({error_code::cancelled, "another task of when_any finished first"});
        }
    }
    struct made_first : first_of<T> {
        made_first(std::size_t which, T returned) : first_of<T>{which, std::move(returned)} {}
    };

    std::vector<task<>> tasks_;
    std::optional<made_first> first_;
};

/// Waits for a time.
class loop_sleep final : parked {
public:
    loop_sleep(loop_core& core, std::chrono::nanoseconds duration) noexcept : core_(core), duration_(duration) {}
    ~loop_sleep() { core_.timers().remove(*this); }

    [[nodiscard]] bool await_ready() {
        if (error const* const ended = core_.scope().ended()) {
            outcome_ = failure{*ended};
            return true;
        }
        return false;
    }
    void await_suspend(std::coroutine_handle<> frame) {
        waiting = frame;
        join(core_.scope());
        wakes = time_after(core_.time().steady(), duration_);
        core_.timers().add(*this);
    }
    result<void> await_resume() { return std::move(outcome_); }

private:
    void timer_fired() override { core_.make_ready(*this); }
    void end_early(error const& why) override {
        if (timer_index != no_timer) {
            core_.timers().remove(*this);
            outcome_ = failure{why};
            core_.make_ready(*this);
        }
    }

    loop_core& core_;
    std::chrono::nanoseconds duration_;
    result<void> outcome_;
};

} // namespace detail

/// Awaits a task with a time limit, `no_timeout` for no limit: after that time every call and every wait in the task ends with
/// DeadlineExceeded, including later calls and waits. Returns the task's result: usually that error, or a value if the task still returned
/// one. The task has ended when the caller resumes.
template <class T>
[[nodiscard]] detail::timed_task<T> with_timeout(event_loop& loop, std::chrono::nanoseconds timeout, task<T> timed) {
    return detail::timed_task<T>{loop.core(), timeout, std::move(timed)};
}

/// Awaits the first task to end; then every call and every wait in the other tasks ends with Cancelled. All tasks have ended when the
/// caller resumes. Rethrows an exception thrown by a task; throws InvalidInput if there are no tasks.
template <class T>
    requires(!std::is_void_v<T>)
[[nodiscard]] detail::any_of_many<T> when_any(event_loop& loop, std::vector<task<T>> tasks) {
    return detail::any_of_many<T>{loop.core(), std::move(tasks)};
}

/// Waits for a time, by the clock of the loop's driver. Cancelled or DeadlineExceeded if the scope ends first.
[[nodiscard]] inline detail::loop_sleep sleep_for(event_loop& loop, std::chrono::nanoseconds duration) noexcept {
    return detail::loop_sleep{loop.core(), duration};
}

ENTITABLE_END_NAMESPACE
