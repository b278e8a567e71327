// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `resumable<T>`: a coroutine that is an operation. Code that sends several requests is written in the order in which they are sent:
///
///     resumable<std::uint64_t> count_rows(std::string table) {
///         query_entities pages{std::move(table), {}, {}, {}, 1000, {}};
///         std::uint64_t rows = 0;
///         do {
///             ENTITABLE_CO_TRY(auto const found, co_await ask(pages));
///             rows += found.rows.size();
///             pages.continuation = found.continuation;
///         } while (pages.continuation);
///         co_return rows;
///     }
///
/// A resumable awaits requests (`ask`) and other resumables, and nothing else. `run`, `run_all` and the tests of operations drive it.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/request/operation.hpp>

#if !defined(__cpp_impl_coroutine)
#error "resumable operations need a compiler with coroutines: GCC 11 or newer, Clang 14 or newer, MSVC 19.28 or newer"
#endif
#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE

template <class T>
class resumable;

/// The options of a request.
struct ask_options {
    std::chrono::nanoseconds after{};         ///< the shortest time between the latest response and the request
    std::size_t place{};                      ///< index of the transport that receives the request
    wait_cause because{wait_cause::back_off}; ///< cause of the delay
};

/// `co_await delay_next{lease};` delays the next request of the operation, whichever function sends the request. It suspends nothing.
struct delay_next {
    std::chrono::nanoseconds length; ///< counted from the latest response
};

/// `steady_time const now = co_await answer_time{};` is the time of the latest response: an operation has no other clock. Before the first
/// response it is the time given to `begin`.
struct answer_time {};

/// `co_await if_abandoned{effect::unknown};` sets the effect that `abandon` reports from now on, for example because the response to a write
/// was lost. It suspends nothing.
struct if_abandoned {
    entitable::effect effect; ///< `effect::none`: the effect of the reason for the abandonment
};

namespace detail {

/// A request to be awaited.
template <class Request>
struct asked_request {
    Request const* request;
    ask_options how;
};

/// The request that an operation of nested coroutines waits for; lives in the frame of the outermost coroutine.
struct resumable_state {
    operation_step due;
    void* answer{};                 ///< the `optional<result>` of the awaiter that asks
    std::coroutine_handle<> active; ///< the innermost coroutine; null before the start and at the end
    steady_time now{(steady_time::min)()};
    steady_time not_before{(steady_time::min)()}; ///< for the next request
    effect if_abandoned{effect::none};

    void delay(std::chrono::nanoseconds length) noexcept {
        if (length.count() <= 0) { return; }
        steady_time const time = now + std::chrono::duration_cast<steady_time::duration>(length);
        if (not_before < time) { not_before = time; }
    }
    void ask(request_ref request, ask_options const& how, void* into) noexcept {
        delay(how.after);
        due = {request, not_before, how.place, how.because};
        not_before = (steady_time::min)();
        answer = into;
    }
    /// Resumes coroutines, one at a time, until a request is due or the outermost coroutine ends. The stack does not grow with the number
    /// of coroutines that end without asking.
    void resume() {
        due = {};
        while (active && due.done()) { active.resume(); }
    }
};

/// Waits for the response to a request.
template <class Request>
class ask_awaiter {
public:
    ask_awaiter(resumable_state& state, asked_request<Request> const& asked) noexcept : state_(state), asked_(asked) {}
    ask_awaiter(ask_awaiter const&) = delete;
    ask_awaiter& operator=(ask_awaiter const&) = delete;
    ~ask_awaiter() = default;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) noexcept { state_.ask(*asked_.request, asked_.how, &answer_); }
    [[nodiscard]] result<response_of<Request>> await_resume() { return *std::move(answer_); }

private:
    resumable_state& state_;
    asked_request<Request> asked_;
    std::optional<result<response_of<Request>>> answer_;
};

/// Runs a nested operation to its end.
template <class T>
class nested_awaiter {
public:
    nested_awaiter(resumable_state& state, resumable<T>&& nested) noexcept
        : state_(state), nested_(std::move(nested)) {}
    nested_awaiter(nested_awaiter const&) = delete;
    nested_awaiter& operator=(nested_awaiter const&) = delete;
    ~nested_awaiter() = default;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> outer) noexcept { return nested_.begin_in(state_, outer); }
    [[nodiscard]] result<T> await_resume() { return nested_.take(); }

private:
    resumable_state& state_;
    resumable<T> nested_;
};

/// Continues without suspension.
template <class T>
struct ready_awaiter {
    T value;
    [[nodiscard]] bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    [[nodiscard]] T await_resume() const noexcept { return value; }
};

/// The part of a frame that does not depend on the type of the result.
class resumable_frame {
public:
    resumable_frame() = default;
    resumable_frame(resumable_frame const&) = delete;
    resumable_frame& operator=(resumable_frame const&) = delete;
    ~resumable_frame() = default;

    /// Makes the outer coroutine the active one; `resumable_state::resume` resumes it.
    struct at_end {
        resumable_frame* ended;
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<>) const noexcept { ended->state_->active = ended->outer_; }
        void await_resume() const noexcept {}
    };
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] at_end final_suspend() noexcept { return {this}; }
    void unhandled_exception() noexcept { thrown_ = std::current_exception(); }

    template <class Request>
    [[nodiscard]] ask_awaiter<Request> await_transform(asked_request<Request> asked) noexcept {
        return {*state_, asked};
    }
    template <class T>
    [[nodiscard]] nested_awaiter<T> await_transform(resumable<T>&& nested) noexcept {
        return {*state_, std::move(nested)};
    }
    [[nodiscard]] std::suspend_never await_transform(delay_next by) noexcept {
        state_->delay(by.length);
        return {};
    }
    [[nodiscard]] std::suspend_never await_transform(if_abandoned reports) noexcept {
        state_->if_abandoned = reports.effect;
        return {};
    }
    [[nodiscard]] ready_awaiter<steady_time> await_transform(answer_time) noexcept { return {state_->now}; }
    template <class Other>
    [[nodiscard]] std::suspend_never await_transform(Other const&) noexcept {
        static_assert(!std::same_as<Other, Other>,
            "a resumable can await ask(request), another resumable (as an rvalue), delay_next, answer_time and "
            "if_abandoned");
        return {};
    }

    /// The state of the whole operation.
    [[nodiscard]] resumable_state& state() const noexcept { return *state_; }
    /// Makes the coroutine the active one; false if it was begun before.
    [[nodiscard]] bool begin(
        std::coroutine_handle<> self, resumable_state* state, std::coroutine_handle<> outer) noexcept {
        if (std::exchange(begun_, true)) { return false; }
        if (state != nullptr) { state_ = state; }
        outer_ = outer;
        state_->active = self;
        return true;
    }
    void rethrow() {
        if (thrown_) { std::rethrow_exception(std::exchange(thrown_, nullptr)); }
    }

private:
    resumable_state own_;
    resumable_state* state_{&own_};
    std::coroutine_handle<> outer_;
    std::exception_ptr thrown_;
    bool begun_{};
};

/// The frame of a coroutine.
template <class T>
class resumable_promise final : public resumable_frame {
public:
    [[nodiscard]] resumable<T> get_return_object() noexcept;
    void return_value(result<T> made) { outcome_.emplace(std::move(made)); }
    /// The result; InternalError before the end, and after an exception.
    [[nodiscard]] result<T> take() {
        if (!outcome_) { return failure{error_code::internal_error, "the operation has no result: it did not end"}; }
        return *std::move(outcome_);
    }

private:
    std::optional<result<T>> outcome_;
};

} // namespace detail

/// Awaits the response to a request, a `result`. The request is a variable of the coroutine, which outlives the wait.
template <table_request Request>
[[nodiscard]] detail::asked_request<Request> ask(Request const& request, ask_options how = {}) noexcept {
    return {&request, how};
}
template <table_request Request>
detail::asked_request<Request> ask(
    Request const&& request, ask_options how = {}) = delete; ///< a temporary would dangle

/// Owns a coroutine that is an `operation`; movable at any time, including between `next` and `answer`. It starts at `begin`, at the first
/// `next`, or when another resumable awaits it, which passes its requests on: `co_await copy_table(...)`. `co_return` takes a value, a
/// `result` or a `failure`. An exception ends the outermost coroutine, leaves `answer` or `next`, and `finish` returns InternalError.
///
/// `abandon`, and the destructor, destroy the variables of all its coroutines, the innermost first.
///
/// Write coroutines as functions with parameters by value: the target of a reference parameter, or the captures of a lambda, may be
/// destroyed before the coroutine resumes.
///
/// Cost: one allocation for each coroutine. Thread safety: one thread at a time.
template <class T>
class [[nodiscard]] resumable {
public:
    using promise_type = detail::resumable_promise<T>; ///< required by the compiler
    using value_type = T;                              ///< type of the result

    /// Takes over the coroutine.
    resumable(resumable&& other) noexcept
        : frame_(std::exchange(other.frame_, nullptr)), abandoned_(std::exchange(other.abandoned_, std::nullopt)) {}
    /// Destroys its old coroutine.
    resumable& operator=(resumable other) noexcept {
        std::swap(frame_, other.frame_);
        std::swap(abandoned_, other.abandoned_);
        return *this;
    }
    ~resumable() { drop(); }

    /// Starts the coroutine, and sets the time before the first response. Does nothing if it was started before.
    resumable&& begin(steady_time now) && {
        begin(now);
        return std::move(*this);
    }
    /// Starts the coroutine, and sets the time before the first response. Does nothing if it was started before.
    void begin(steady_time now) & {
        if (!frame_ || !frame_.promise().begin(frame_, nullptr, nullptr)) { return; }
        frame_.promise().state().now = now;
        resume();
    }
    /// The pending request; none at the end. Starts the coroutine.
    [[nodiscard]] operation_step next() {
        begin((steady_time::min)());
        return std::as_const(*this).next();
    }
    /// The pending request of a coroutine that was started; none at the end.
    [[nodiscard]] operation_step next() const noexcept {
        return frame_ ? frame_.promise().state().due : operation_step{};
    }
    /// Passes the response to the coroutine that asked. InternalError is the result if it answers a request of another kind.
    template <class Response>
    void answer(result<Response> answered, steady_time now) {
        if (!frame_) { return; }
        detail::resumable_state& state = frame_.promise().state();
        bool expected = false;
        state.due.request.visit(
            [&]<class Request>(Request const&) { expected = std::same_as<response_of<Request>, Response>; });
        if (!expected) {
            return abandon(error{error_code::internal_error, "response to a request that the operation did not send"});
        }
        state.now = now;
        static_cast<std::optional<result<Response>>*>(state.answer)->emplace(std::move(answered));
        resume();
    }
    /// Ends the operation with this error, and destroys its coroutines. Does nothing after the end.
    void abandon(error const& reason) {
        if (!frame_ || frame_.done()) { return; }
        error& ended = abandoned_.emplace(reason);
        if (frame_.promise().state().if_abandoned == effect::unknown) { ended.effect = effect::unknown; }
        drop();
    }
    /// Returns the result, once.
    [[nodiscard]] result<T> finish() { return abandoned_ ? result<T>{failure{*std::move(abandoned_)}} : take(); }

private:
    friend detail::resumable_promise<T>;
    friend class detail::nested_awaiter<T>;

    explicit resumable(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
    [[nodiscard]] bool begin_in(detail::resumable_state& state, std::coroutine_handle<> outer) noexcept {
        return frame_ && frame_.promise().begin(frame_, &state, outer);
    }
    void resume() {
        frame_.promise().state().resume();
        frame_.promise().rethrow();
    }
    [[nodiscard]] result<T> take() {
        if (!frame_) { return detail::moved_from("operation"); }
        frame_.promise().rethrow();
        return frame_.promise().take();
    }
    void drop() noexcept {
        if (frame_) { std::exchange(frame_, nullptr).destroy(); }
    }

    std::coroutine_handle<promise_type> frame_;
    std::optional<error> abandoned_;
};

template <class T>
resumable<T> detail::resumable_promise<T>::get_return_object() noexcept {
    return resumable<T>{std::coroutine_handle<resumable_promise>::from_promise(*this)};
}

ENTITABLE_END_NAMESPACE

#endif
