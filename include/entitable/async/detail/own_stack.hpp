// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Blocking code on its own stack in a loop: a wait leaves the stack, and a coroutine awaits the code.

#include <entitable/async/detail/loop_core.hpp>
#include <entitable/core/detail/side_stack.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Unwinds a function on its own stack whose coroutine was destroyed. Derived from nothing that programs catch by name.
struct stack_unwinding {};

/// Returns the pool of a loop's stacks.
[[nodiscard]] inline stack_pool& stack_pool_of(loop_core& core);

/// One stack of a loop, awaited by the coroutine that runs it. Must not be moved. Used by one thread.
class own_stack final : parked {
public:
    own_stack(loop_core& core, std::size_t bytes, stack_body run, void* of)
        : core_(core), run_(run), of_(of), side_(stack_pool_of(core), bytes, &first, this) {}
    /// Runs started code to completion: all its requests are refused, waits end immediately, and after a few of them the code is unwound.
    ~own_stack() {
        ending_ = true;
        waiting = nullptr;
        while (begun_ && !ended_) { (void)go_on(); }
    }

    /// Returns the stack of a loop on which the calling code runs; null if there is none.
    [[nodiscard]] static own_stack* of(loop_core const& core) noexcept {
        own_stack* const running = current();
        return running != nullptr && &running->core_ == &core ? running : nullptr;
    }

    // ---- for the coroutine ----

    /// Makes the stack, before `go_on`. Errors: InternalError if there is no memory for it.
    [[nodiscard]] result<void> allocate() noexcept {
        return side_.allocate() ? result<void>{} : failure{error_code::internal_error, "out of memory for a stack"};
    }
    /// Runs the code until it waits (true) or has ended (false).
    bool go_on() {
        if (!ending_) { join(core_.scope()); }
        begun_ = true;
        woken_ = false;
        own_stack* const before = current();
        ended_ = !side_.enter();
        current() = before;
        if (ended_) { in_scope::unlink(); }
        return !ended_;
    }
    struct waking {
        own_stack* stack;

        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> frame) const noexcept {
            stack->waiting = frame;
            if (stack->woken_) { stack->core_.make_ready(*stack); }
        }
        void await_resume() const noexcept { stack->waiting = nullptr; }
    };
    /// Must be awaited before `go_on`.
    [[nodiscard]] waking woken() noexcept { return {this}; }

    // ---- for the code ----

    /// Returns the reason why new operations are refused; nullopt before that.
    [[nodiscard]] std::optional<error> stopped() const {
        if (ending_) { return error{error_code::cancelled, "the waiting coroutine was destroyed"}; }
        error const* const ended = scope->ended();
        return ended != nullptr ? std::optional{*ended} : std::nullopt;
    }
    [[nodiscard]] bool ending() const noexcept { return ending_; }
    /// Called before each request and each wait that is refused because the coroutine was destroyed: code that does not give up is unwound
    /// by an exception. Code that runs while another exception unwinds the stack is not.
    void count_refusal() {
        constexpr unsigned patience = 3;
        if (!ending_ || ++refused_ <= patience) { return; }
#if ENTITABLE_HAS_EXCEPTIONS
        if (std::uncaught_exceptions() == 0) { throw stack_unwinding{}; }
#endif
    }
    /// Records in the scope of the code that it sends a write.
    void note_write() noexcept {
        if (scope != nullptr) { scope->note_write(); }
    }
    /// Leaves the stack until it is woken.
    void leave() {
        side_.leave();
        current() = this;
    }
    /// Lets other tasks continue first.
    void yield() {
        woken_ = true;
        leave();
    }
    /// Waits until the given time, or until a response has arrived in a channel. If operations are refused, time passes immediately.
    void wait_until(steady_time until) {
        while (!answered_ && until > steady()) {
            if (ending_ || scope->ended() != nullptr) {
                count_refusal();
                constexpr auto longest = std::chrono::hours{24 * 365};
                if (auto const left = until - steady(); left < longest) { skipped_ += left; }
                return;
            }
            wakes = until - skipped_;
            if (until != for_ever) { core_.timers().add(*this); }
            leave();
            core_.timers().remove(*this);
        }
    }
    /// End time of waits that only a response ends.
    static constexpr steady_time for_ever = (steady_time::max)() - steady_time::duration{1};
    [[nodiscard]] steady_time steady() const noexcept { return core_.time().steady() + skipped_; }
    [[nodiscard]] steady_time::duration skipped() const noexcept { return skipped_; }

    // ---- for responses ----

    void wake() noexcept {
        woken_ = true;
        if (waiting) { core_.make_ready(*this); }
    }
    /// Sets whether a channel has a response.
    void set_answered(bool now) noexcept { answered_ = now; }
    [[nodiscard]] loop_core& core() const noexcept { return core_; }

private:
    static own_stack*& current() noexcept {
        static thread_local own_stack* running = nullptr;
        return running;
    }
    static void first(void* of) {
        auto& self = *static_cast<own_stack*>(of);
        current() = &self; // evaluated on the thread that runs the code
        self.run_(self.of_);
    }
    void timer_fired() override { wake(); }
    void end_early(error const&) override { wake(); }

    loop_core& core_;
    stack_body run_;
    void* of_;
    side_stack side_;
    steady_time::duration skipped_{};
    bool begun_{};
    bool ended_{};
    bool ending_{};
    bool woken_{};
    bool answered_{};
    unsigned refused_{};
};

/// A request sent by code that runs on its own stack. Borrows the call of this code, and returns it when the request is settled.
class stack_sending : public sending {
public:
    /// `context` must outlive the request.
    stack_sending(own_stack& of, loop_way& to, call& with)
        : sending(std::move(with)), stack_(of), outside_(&with) { // NOLINT: its address
        way = &to;
    }
    virtual ~stack_sending() = default;

    void begin(request_ref asked) {
        request = asked;
        if (auto const stopped = stack_.stopped()) {
            refuse(*stopped);
            return settle();
        }
        join(stack_.core().scope());
        if (context.cancellation.has_source()) {
            token_watched = true;
            stack_.core().watch_token(true);
        }
        stack_.core().send(*this);
    }
    [[nodiscard]] bool settled() const noexcept { return settled_; }
    /// Settles the request now, because nothing waits for it any longer.
    void take_back() {
        bool const was_sent = sent;
        if (sent) { stack_.core().take_back(*this); }
        if (!settled_) {
            in_queue::unlink();
            error gone{error_code::cancelled, "the waiting coroutine was destroyed"};
            gone.effect = was_sent && request.writes() ? effect::unknown : effect::none;
            refuse(gone);
            settle();
        }
    }

protected:
    virtual void take_answer(completion& done) = 0;
    virtual void refuse(error const& why) = 0;
    virtual void told() {} ///< called when it is settled
    void settle() {
        settled_ = true;
        *outside_ = std::move(context);
        if (std::exchange(token_watched, false)) { stack_.core().watch_token(false); }
        in_scope::unlink();
        told();
        stack_.wake();
    }
    /// Ends the request early, settled or not.
    void cancel_here(error const& why) { end_early(why); }
    [[nodiscard]] call& outside() const noexcept { return *outside_; }
    [[nodiscard]] own_stack& stack() const noexcept { return stack_; }

private:
    void take(completion& done) final {
        take_answer(done);
        settle();
    }
    void end_early(error const& why) final {
        if (settled_) { return; }
        if (sent) {
            stack_.core().cancel(*this, why);
            return;
        }
        in_queue::unlink();
        refuse(why);
        settle();
    }
    void look_at_token() final {
        if (context.cancellation.cancelled()) { end_early({error_code::cancelled, "the call was cancelled"}); }
    }

    own_stack& stack_;
    call* outside_;
    bool settled_{};
};

/// A request with storage for its response.
template <table_request Request>
class stack_request : public stack_sending {
public:
    using stack_sending::stack_sending;
    [[nodiscard]] result<response_of<Request>> finish() { return *std::move(answer_); }

protected:
    void take_answer(completion& done) override { answer_.emplace(std::move(done.answer<Request>())); }
    void refuse(error const& why) override { answer_.emplace(failure{why}); }

    std::optional<result<response_of<Request>>> answer_;
};

[[nodiscard]] inline failure not_on_a_stack() {
    return failure{
        error_code::invalid_input, "a loop_transport can only be used on a stack of its loop: see on_own_stack"};
}

/// The clock for code on stacks of a loop: a wait leaves the stack. On other stacks it behaves like the clock of the loop.
class stack_clock final : public clock {
public:
    explicit stack_clock(loop_core& core) noexcept : core_(core) {}

    date_time now() noexcept override {
        own_stack const* const stack = own_stack::of(core_);
        std::int64_t const ticks =
            stack == nullptr ? 0 : std::chrono::duration_cast<std::chrono::nanoseconds>(stack->skipped()).count() / 100;
        return {core_.time().now().ticks + ticks};
    }
    steady_time steady() noexcept override {
        own_stack const* const stack = own_stack::of(core_);
        return stack == nullptr ? core_.time().steady() : stack->steady();
    }
    void wait_until(steady_time time) override {
        if (own_stack* const stack = own_stack::of(core_)) {
            stack->wait_until(time);
        } else {
            core_.time().wait_until(time);
        }
    }

    stack_pool pool; ///< of the stacks of the loop

private:
    loop_core& core_;
};

/// Returns the clock of a loop's stacks, made once.
[[nodiscard]] inline stack_clock& stack_clock_of(loop_core& core) {
    if (!core.stacks_time) { core.stacks_time = std::make_unique<stack_clock>(core); }
    return static_cast<stack_clock&>(*core.stacks_time);
}
inline stack_pool& stack_pool_of(loop_core& core) { return stack_clock_of(core).pool; }

} // namespace detail
ENTITABLE_END_NAMESPACE
