// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `when_all`: runs several tasks concurrently, until the last task has ended.

#include <entitable/async/task.hpp>

#include <tuple>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Waits for tasks of one type.
template <class T>
class all_of_many {
public:
    explicit all_of_many(std::vector<task<T>> tasks) noexcept : tasks_(std::move(tasks)) {}
    all_of_many(all_of_many const&) = delete;
    all_of_many& operator=(all_of_many const&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return tasks_.empty(); }
    bool await_suspend(std::coroutine_handle<> waiting) {
        group_ = {waiting, tasks_.size() + 1};
        for (auto& each : tasks_) { each.begin(group_); }
        return --group_.left != 0;
    }
    auto await_resume() {
        if constexpr (std::is_void_v<T>) {
            for (auto& each : tasks_) { each.take(); }
        } else {
            std::vector<T> all;
            all.reserve(tasks_.size());
            for (auto& each : tasks_) { all.push_back(each.take()); }
            return all;
        }
    }

private:
    std::vector<task<T>> tasks_;
    task_group group_;
};

/// Waits for a few tasks.
template <class... Ts>
class all_of_these {
public:
    explicit all_of_these(task<Ts>... tasks) noexcept : tasks_(std::move(tasks)...) {}
    all_of_these(all_of_these const&) = delete;
    all_of_these& operator=(all_of_these const&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiting) {
        group_ = {waiting, sizeof...(Ts) + 1};
        std::apply([&](auto&... each) { (each.begin(group_), ...); }, tasks_);
        return --group_.left != 0;
    }
    std::tuple<Ts...> await_resume() {
        return std::apply([](auto&... each) { return std::tuple<Ts...>{each.take()...}; }, tasks_);
    }

private:
    std::tuple<task<Ts>...> tasks_;
    task_group group_;
};

} // namespace detail

/// Starts all tasks, waits until each has ended, and returns a vector of their results, in their order; void for `task<>`. If tasks throw,
/// rethrows the exception of the first of these tasks in that order, after all tasks have ended.
template <class T>
[[nodiscard]] detail::all_of_many<T> when_all(std::vector<task<T>> tasks) {
    for (auto const& each : tasks) { each.require_one(); }
    return detail::all_of_many<T>{std::move(tasks)};
}
/// Runs tasks of several types and returns a tuple.
template <class... Ts>
    requires(sizeof...(Ts) > 0 && (!std::is_void_v<Ts> && ...))
[[nodiscard]] detail::all_of_these<Ts...> when_all(task<Ts>... tasks) {
    (tasks.require_one(), ...);
    return detail::all_of_these<Ts...>{std::move(tasks)...};
}

ENTITABLE_END_NAMESPACE
