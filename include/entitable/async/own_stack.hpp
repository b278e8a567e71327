// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `on_own_stack`: awaits blocking code, so that coroutines can use every pattern of the library unchanged: transactions, bulk loads,
/// queues, sagas, units of work, indexes, shards.
///
///     loop_transport const near{loop, cloud};
///     table_queue<job> const jobs{near, "Jobs", {.time = &loop_clock(loop)}};
///     ENTITABLE_CO_TRY(auto work, co_await on_own_stack(loop, claiming{jobs}));

#include <entitable/async/detail/stack_channel.hpp>
#include <entitable/async/event_loop.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A function on its own stack, and its result.
template <class Function>
class stack_work {
public:
    using value_type = std::invoke_result_t<Function&>;

    stack_work(loop_core& core, Function& function, std::size_t bytes)
        : function_(function), stack_(core, bytes, &run, this) {}

    [[nodiscard]] own_stack& stack() noexcept { return stack_; }
    value_type take() {
        if (thrown_) { std::rethrow_exception(thrown_); }
        if constexpr (!std::is_void_v<value_type>) { return *std::move(value_); }
    }

private:
    static void run(void* of) {
        auto& self = *static_cast<stack_work*>(of);
#if ENTITABLE_HAS_EXCEPTIONS
        try {
            self.call();
        } catch (...) { self.thrown_ = std::current_exception(); }
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
    own_stack stack_; // destroyed first
};

} // namespace detail

/// The size of a stack. Untouched memory costs only address space.
inline constexpr std::size_t stack_bytes = std::size_t{1} << 18U;

namespace detail {

template <class Function>
[[nodiscard]] task<std::invoke_result_t<Function&>> on_own_stack(
    loop_core& core, Function function, std::size_t bytes = stack_bytes) {
    stack_work<Function> work{core, function, bytes};
    if (auto made = work.stack().allocate(); !made) {
        if constexpr (std::is_constructible_v<std::invoke_result_t<Function&>, failure>) {
            co_return std::move(made).as_failure();
        } else {
            made.value(); // throws
        }
    }
    while (work.stack().go_on()) { co_await work.stack().woken(); }
    co_return work.take();
}

} // namespace detail

/// Awaits `function()`, blocking code, on its own stack: other tasks run while it waits in a `loop_transport` or on the `loop_clock`. Any
/// other wait blocks the loop; waiting for a lock held by code on another stack of the loop is a deadlock. Returns the function's result,
/// and rethrows its exception.
///
/// A `sequence` holds such a lock while it reserves a block: stacks that share a sequence use an `async_sequence` instead. A lookup map of
/// shards also holds such a lock while it is read: give each stack its own map, or use a catalogue that is not a `loop_transport`.
///
/// The wait for the function is cancelled and timed out like every wait: each request then ends, or is refused, with the reason, and waits
/// on the `loop_clock` end immediately, as if their time had passed. The function still runs to its end, and the caller waits for that end,
/// even if the coroutine is destroyed.
///
/// Errors: InternalError if there is no memory for the stack; thrown if the function does not return a `result`. The function is not called.
///
/// Cost: some memory of the stack (`bytes`, as far as it is used), a few microseconds to start, and two switches per request. If the system
/// has no `<ucontext.h>`, the stack is that of a thread, which runs while the loop does not.
template <class Function>
[[nodiscard]] task<std::invoke_result_t<Function&>> on_own_stack(
    event_loop& loop, Function function, std::size_t bytes = stack_bytes) {
    return detail::on_own_stack(loop.core(), std::move(function), bytes);
}

/// The clock for code on stacks of a loop: pass it in the options of queues, transactions, bulk loads. Other tasks run while it waits.
/// Lives as long as the loop. On other stacks it behaves like the clock of the loop.
[[nodiscard]] inline clock& loop_clock(event_loop& loop) { return detail::stack_clock_of(loop.core()); }

/// A transport for code on stacks of a loop: each request is in flight in the loop, and other tasks run in the meantime. Code that sends
/// concurrent requests with the `loop_clock` (bulk loads, shards, copies) must do so through this transport. On any other stack it returns
/// InvalidInput. The loop must outlive the transport.
class loop_transport {
public:
    using is_transport = void;              ///< opts in to `transport`
    using visits_entities = loop_transport; ///< opts in to `read_entity`
    using visits_pages = loop_transport;    ///< opts in to `read_entities`

    /// Uses this transport. Call it on the thread of the loop.
    loop_transport(event_loop& loop, any_store through) : loop_transport(loop.core(), through) {}
    loop_transport(detail::loop_core& core, any_store const& through) : core_(&core), way_(&core.way_to(through)) {}

    /// Returns the profile of the transport below.
    [[nodiscard]] entitable::profile profile() const { return way_->through.profile(); }
    /// Lets other tasks run until the response has arrived.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        detail::own_stack* const stack = detail::own_stack::of(*core_);
        if (stack == nullptr) { return detail::not_on_a_stack(); }
        stack->count_refusal();
        if (way_->at_once && !stack->stopped()) {
            if (request_ref{request}.writes()) { stack->note_write(); }
            auto answer = way_->through.execute(request, context);
            if (core_->has_to_yield()) { stack->yield(); }
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
    /// Opens a channel in the loop if the driver waits by its `loop_clock`; otherwise returns no channel.
    [[nodiscard]] shared<channel> open(io_driver& io) const {
        return &io.time() == &detail::stack_clock_of(*core_) ? shared<channel>{new detail::stack_channel{*core_, *way_}}
                                                             : shared<channel>{};
    }

private:
    detail::loop_core* core_;
    detail::loop_way* way_;
};

ENTITABLE_END_NAMESPACE
