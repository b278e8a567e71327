// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `awaited<Op>`: a resumable operation to `co_await`. The loop handles requests and waits; the operation is that of the blocking call.

#include <entitable/async/event_loop.hpp>
#include <entitable/client/table_core.hpp>
#include <entitable/core/request/single_request.hpp>
#include <entitable/core/transport/run.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A table that is used in an event loop. Shared by the table and its awaitables, so that an awaitable may outlive the table.
struct async_place : counted {
    async_place(loop_core& in, any_store through, std::string name, call_options options)
        : core(in), way(in.way_to(through)), table(std::move(through), std::move(name), std::move(options)) {}

    loop_core& core;
    loop_way& way;
    table_core table;
};

/// Calls `body` and stores its exception. Returns whether it has thrown.
template <class Body>
[[nodiscard]] bool kept_exception(Body const& body, [[maybe_unused]] std::exception_ptr& thrown) {
#if ENTITABLE_HAS_EXCEPTIONS
    try {
        body();
    } catch (...) {
        thrown = std::current_exception();
        return true;
    }
#else
    body();
#endif
    return false;
}

/// The part of an awaited operation that does not depend on its type.
class awaited_base : protected sending {
public:
    void await_suspend(std::coroutine_handle<> frame) noexcept { waiting = frame; }

protected:
    explicit awaited_base(shared<async_place> at)
        : sending(call{at->table.options(), at->core.time()}), at_(std::move(at)) {
        way = &at_->way;
    }
    /// A frame may be destroyed while it waits.
    void leave() noexcept {
        if (sent) {
            waiting = nullptr;
            at_->core.take_back(*this);
        }
        stop_waiting();
    }

    // The interface of the operation.
    virtual operation_step due() = 0;
    virtual bool takes(request_ref asked) const noexcept = 0;
    virtual void answer_here() = 0; ///< without a channel
    virtual void answer_from(completion& done) = 0;
    virtual void abandon_here(error const& why) = 0;
    virtual bool has_call_for_each() const noexcept = 0;

    [[nodiscard]] loop_core& core() const noexcept { return at_->core; }
    /// Continues until the operation waits (false) or has ended (true).
    bool proceed() {
        for (;;) {
            operation_step const step = due();
            if (step.done()) { return true; }
            if (error const* const ended = scope->ended()) {
                abandon_here(*ended);
                continue;
            }
            if (std::exchange(call_used, false) && has_call_for_each()) {
                context = call{at_->table.options(), core().time()};
            }
            if (step.not_before > (steady_time::min)()) {
                if (steady_time const now = core().time().steady(); step.not_before > now) {
                    if (auto allowed = check_call(context, core().time()); !allowed) {
                        abandon_here(allowed.error());
                        continue;
                    }
                    tell_wait(step.request, step.because, context, now, step.not_before);
                    wakes = step.not_before < context.deadline ? step.not_before : context.deadline;
                    core().timers().add(*this);
                    start_waiting();
                    return false;
                }
            }
            if (step.place != 0 || !takes(step.request)) {
                abandon_here(error{error_code::internal_error,
                    "an operation sends a request to an unknown place, or rejects the response"});
                continue;
            }
            call_used = true;
            request = step.request;
            if (!at_->way.at_once) {
                start_waiting();
                core().send(*this);
                return false;
            }
            if (request.writes()) { scope->note_write(); }
            answer_here();
        }
    }
    /// Stops waiting, to be resumed soon.
    void become_ready() {
        ready = true;
        stop_waiting();
        core().make_ready(*this);
    }
    /// Registers with its scope and for checks of its token.
    void start_waiting() {
        if (in_scope::alone()) { join(*scope); }
        if (!token_watched && context.cancellation.has_source()) {
            token_watched = true;
            core().watch_token(true);
        }
    }

    shared<async_place> at_;
    std::exception_ptr thrown_; ///< exception of a user function that the operation calls

private:
    void stop_waiting() noexcept {
        if (std::exchange(token_watched, false)) { core().watch_token(false); }
        if (timer_index != no_timer) { core().timers().remove(*this); }
    }

    void go_on() {
        bool ended = true;
        (void)kept_exception([&] { ended = proceed(); }, thrown_);
        if (ended) { become_ready(); }
    }
    void take(completion& done) final {
        if (!waiting) { // its frame is being destroyed
            return;
        }
        if (kept_exception([&] { answer_from(done); }, thrown_)) {
            become_ready();
            return;
        }
        go_on();
    }
    void timer_fired() final {
        if (auto allowed = check_call(context, core().time()); !allowed) { abandon_here(allowed.error()); }
        go_on();
    }
    void look_at_token() final {
        if (context.cancellation.cancelled()) { end_early({error_code::cancelled, "the call was cancelled"}); }
    }
    void end_early(error const& why) final {
        if (ready) { return; }
        if (sent) {
            core().cancel(*this, why);
            return;
        }
        core().timers().remove(*this);
        in_queue::unlink();
        abandon_here(why);
        go_on();
    }
};

} // namespace detail

/// A client call to be awaited: `co_await` starts it, and returns the result of the blocking call. It cannot be moved; it is awaited once,
/// on the thread of its loop, by any coroutine. Its deadline counts from its construction. If the transport responds immediately, the
/// coroutine is not suspended, except in every 256th call, to let other tasks run.
///
/// Errors: those of the blocking call; Cancelled after `event_loop::stop`, or if the enclosing scope is cancelled; DeadlineExceeded if that
/// scope was created by `with_timeout`. A write that was sent before may have the effect `unknown`.
template <operation Op>
class [[nodiscard]] awaited final : private detail::awaited_base {
public:
    using operation_type = Op; ///< the operation

    /// `make()` returns the operation.
    template <class Make>
    awaited(shared<detail::async_place> at, Make const& make) : awaited_base(std::move(at)), operation_(make()) {
        if constexpr (requires { operation_.prepare(this->context); }) { operation_.prepare(context); }
    }
    awaited(awaited const&) = delete;
    awaited& operator=(awaited const&) = delete;
    /// Cancels a request in flight, and blocks until it has ended.
    ~awaited() { leave(); }

    /// Starts the call. Returns whether it has ended already.
    [[nodiscard]] bool await_ready() {
        scope = &core().scope();
        if constexpr (operation_of_one<Op>) {
            if (way->at_once && scope->ended() == nullptr) {
                if (auto const* const asked = operation_.request()) {
                    operation_.answer(way->through.execute(*asked, context), steady_time{});
                }
                return go_on_at_once();
            }
        }
        return proceed() && go_on_at_once();
    }
    using awaited_base::await_suspend;
    /// Returns the result. Rethrows an exception thrown by a user function that the operation calls.
    auto await_resume() {
        if (thrown_) { std::rethrow_exception(thrown_); }
        return operation_.finish();
    }

private:
    [[nodiscard]] bool go_on_at_once() {
        if (core().has_to_yield()) {
            start_waiting();
            become_ready();
            return false;
        }
        return true;
    }

    operation_step due() override { return operation_.next(); }
    bool takes(request_ref asked) const noexcept override {
        bool taken = false;
        asked.visit([&]<class Request>(Request const&) { taken = takes_answer_to<Op, Request>; });
        return taken;
    }
    void answer_here() override {
        request.visit([&]<class Request>(Request const& asked) {
            if constexpr (takes_answer_to<Op, Request>) {
                auto answer = way->through.execute(asked, context);
                operation_.answer(std::move(answer), core().time().steady());
            }
        });
    }
    void answer_from(completion& done) override {
        done.visit([&]<class Request>(Request const&, result<response_of<Request>>& answer) {
            if constexpr (takes_answer_to<Op, Request>) {
                operation_.answer(std::move(answer), core().time().steady());
            }
        });
    }
    void abandon_here(error const& why) override { operation_.abandon(why); }
    bool has_call_for_each() const noexcept override {
        return requires { typename Op::has_call_for_each_request; };
    }

    Op operation_;
};

ENTITABLE_END_NAMESPACE
