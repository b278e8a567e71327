// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `trampoline`: resumes coroutines one after the other, so that a chain of tasks needs no depth of the stack, also in builds where compilers
/// do not turn the resumption of another coroutine into a jump.

#include <entitable/core/config.hpp>

#include <coroutine>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Thread safety: each thread has its own.
class trampoline {
public:
    /// Resumes a coroutine, and then each coroutine that `then` names meanwhile.
    static void run(std::coroutine_handle<> first) {
        struct inner_run {
            state outer{std::exchange(current(), state{true, {}})};
            ~inner_run() { current() = outer; }
        } const until_the_end;
        first.resume();
        while (auto const next = std::exchange(current().next, {})) { next.resume(); }
    }
    /// Resumes a coroutine as soon as the coroutine that runs now is suspended. Call it last in `await_suspend`: the calling frame may be
    /// destroyed.
    static void then(std::coroutine_handle<> next) {
        state& now = current();
        if (now.runs && !now.next) {
            now.next = next;
        } else {
            run(next);
        }
    }

private:
    struct state {
        bool runs{};
        std::coroutine_handle<> next{};
    };
    static state& current() noexcept {
        static thread_local state of_thread;
        return of_thread;
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
