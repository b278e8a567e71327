// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `on_own_stack`: code that calls and waits, awaited. So every pattern of the library is there for coroutines, word for word: transactions,
/// bulk loads, queues, sagas, units of work, indexes, shards.
///
///     loop_transport const near{loop, cloud};
///     table_queue<job> const jobs{near, "Jobs", {.time = &loop_clock(loop)}};
///     ENTITABLE_CO_TRY(auto work, co_await on_own_stack(loop, claiming{jobs}));

#include <entitable/async/detail/stack_channel.hpp>
#include <entitable/async/event_loop.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A function on a stack of its own, and what it came to.
template <class Function>
class stack_work {
public:
    using value_type = std::invoke_result_t<Function&>;

    stack_work(loop_core& core, Function& function, std::size_t bytes)
        : function_(function), stack_(core, bytes, &run, this) {}

    [[nodiscard]] own_stack& stack() noexcept { return stack_; }
    value_type take() {
        if (thrown_) {
            std::rethrow_exception(thrown_);
        }
        if constexpr (!std::is_void_v<value_type>) {
            return *std::move(value_);
        }
    }

private:
    static void run(void* of) {
        auto& self = *static_cast<stack_work*>(of);
#if ENTITABLE_HAS_EXCEPTIONS
        try {
            self.call();
        } catch (...) {
            self.thrown_ = std::current_exception();
        }
#else
        self.call();
#endif
    }
    void call() {
        if constexpr (std::is_void_v<value_type>) {
            function_();
        } else {
            value_.emplace(function_());
        }
    }

    Function& function_;
    std::optional<std::conditional_t<std::is_void_v<value_type>, bool, value_type>> value_;
    std::exception_ptr thrown_;
    own_stack stack_; // ends first
};

} // namespace detail

/// Bytes of a stack. Memory that is not touched costs address space only.
inline constexpr std::size_t stack_bytes = std::size_t{1} << 18U;

namespace detail {

template <class Function>
[[nodiscard]] task<std::invoke_result_t<Function&>> on_own_stack(
    loop_core& core, Function function, std::size_t bytes = stack_bytes) {
    stack_work<Function> work{core, function, bytes};
    while (work.stack().go_on()) {
        co_await work.stack().woken();
    }
    co_return work.take();
}

} // namespace detail

/// Awaits `function()`, which calls and waits as ever, on a stack of its own: others go on while it waits in a `loop_transport` or by the
/// `loop_clock`. Any other wait blocks the loop, and so does a lock that is held by code on another stack. What it returns is the result; what it throws is thrown.
///
/// Cancelled and timed out as all that waits: each request then ends, or is refused, with the reason, and waits by the `loop_clock` end at once,
/// as if their time had passed. So the function comes to its end; that is waited for, also where the coroutine is destroyed.
///
/// Cost: some memory of the stack (`bytes`, as far as it is used), a few microseconds to begin, and two switches a request. Where the system
/// has no `<ucontext.h>` it is a thread that runs while the loop does not.
template <class Function>
[[nodiscard]] task<std::invoke_result_t<Function&>> on_own_stack(
    event_loop& loop, Function function, std::size_t bytes = stack_bytes) {
    return detail::on_own_stack(loop.core(), std::move(function), bytes);
}

/// The time for what runs on stacks of a loop: give it to the options of queues, transactions, bulk loads. Waits in it let others go on. Lives as
/// long as the loop. On other stacks it is the clock of the loop.
[[nodiscard]] inline clock& loop_clock(event_loop& loop) { return detail::stack_clock_of(loop.core()); }

/// A transport for what runs on stacks of a loop: each request is under way in the loop, and others go on meanwhile. What has many requests under
/// way by the `loop_clock` (bulk loads, shards, copies) has them under way here, too. Elsewhere it answers InvalidInput. The loop outlives it.
class loop_transport {
public:
    using is_transport = void;              ///< opts in to `transport`
    using visits_entities = loop_transport; ///< opts in to `read_entity`
    using visits_pages = loop_transport;    ///< opts in to `read_entities`

    /// Through this one. On the thread of the loop.
    loop_transport(event_loop& loop, any_transport through) : loop_transport(loop.core(), through) {}
    loop_transport(detail::loop_core& core, any_transport const& through) : core_(&core), way_(&core.way_to(through)) {}

    /// Of the transport behind it.
    [[nodiscard]] entitable::profile profile() const { return way_->through.profile(); }
    /// Lets others go on until the answer has come.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        detail::own_stack* const stack = detail::own_stack::of(*core_);
        if (stack == nullptr) {
            return detail::not_on_a_stack();
        }
        if (way_->at_once && !stack->stopped()) {
            auto answer = way_->through.execute(request, context);
            if (core_->has_to_yield()) {
                stack->yield();
            }
            return answer;
        }
        detail::stack_request<Request> asked{*stack, *way_, context};
        asked.begin(request);
        while (!asked.settled()) {
            if (stack->ending()) {
                asked.take_back();
            } else {
                stack->leave();
            }
        }
        return asked.finish();
    }
    /// Requests in the loop, where the driver waits by its `loop_clock`; else none.
    [[nodiscard]] shared<channel> open(io_driver& io) const {
        return &io.time() == &detail::stack_clock_of(*core_) ? shared<channel>{new detail::stack_channel{*core_, *way_}}
                                                             : shared<channel>{};
    }

private:
    detail::loop_core* core_;
    detail::loop_way* way_;
};

ENTITABLE_END_NAMESPACE
