// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `channel`: many requests of any kinds under way at once, from one thread. A channel does not wait: one `io_driver` waits for all
/// channels of a thread.

#include <entitable/core/function_ref.hpp>
#include <entitable/core/io_driver.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/request/call.hpp>
#include <entitable/request/request_ref.hpp>
#include <entitable/transport/attempt.hpp>

#include <cstddef>

ENTITABLE_BEGIN_NAMESPACE

/// A request that was answered. Everything in it is by reference and valid while the sink runs; the sink moves the answer out.
class completion {
public:
    /// Of this request, with the call, the tag and the begin it was sent with.
    template <table_request Request>
    completion(Request const& sent, result<response_of<Request>>& answered, call& sent_with, void* sent_as,
        steady_time begun_at) noexcept
        : request(sent),
          context(&sent_with),
          tag(sent_as),
          begun(begun_at),
          problem(answered ? nullptr : &answered.error()),
          answer_(&answered) {}

    request_ref request;  ///< as it was sent
    call* context;        ///< as it was sent
    void* tag;            ///< as it was sent
    steady_time begun;    ///< when it was begun
    error const* problem; ///< null on success

    /// The answer to a request of this kind; undefined where it is another.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>>& answer() const noexcept {
        return *static_cast<result<response_of<Request>>*>(answer_);
    }
    /// Calls `f(request, answer)` with both as what they are.
    template <class F>
    void visit(F&& f) const {
        request.visit([&]<class Request>(Request const& sent) { f(sent, answer<Request>()); });
    }

private:
    void* answer_;
};

/// Receives answers.
using completion_sink = function_ref<void(completion&)>;

/// Requests of any kinds under way to one transport.
///
/// Semantic rules:
/// 1. All calls come from one thread. Its driver outlives it.
/// 2. Request and call stay where they are until their completion, or until the channel is gone.
/// 3. Each request that is sent has one completion, also one that is cancelled or cannot be sent.
/// 4. Completions come from `poll` only, never from `send` or `cancel`. A sink may send and cancel. Where it throws, the exception
///    passes through and nothing else is lost: the next `poll` continues.
/// 5. A tag differs from those of all others under way. It may be reused from its completion on.
/// 6. What the transport promises for a request holds for one in a channel: order of attempts, deadlines, cancellation, effects.
///    Requests overtake each other.
class channel : public counted {
public:
    virtual ~channel() = default;

    /// Begins a request; its completion has the tag.
    virtual void send(request_ref request, call& context, void* tag) = 0;
    /// Ends a request early: the next `poll` completes it, with `why` unless its answer is there, and with the effect that follows
    /// from what was sent.
    virtual void cancel(void* tag, error const& why) = 0;
    /// Completes what is answered and advances the rest, without waiting. `now` is the time of the driver.
    virtual void poll(steady_time now, completion_sink sink) = 0;
    /// When to call `poll` even if nothing arrives.
    [[nodiscard]] virtual steady_time wakes_at() const noexcept = 0;
};

/// A transport with a channel of its own.
template <class T>
concept opens_channels = requires(T const& transport, io_driver& io) {
    { transport.open(io) } -> std::same_as<shared<channel>>;
};

class any_transport;

/// A channel to a transport: its own, or one that executes request by request in `poll`.
[[nodiscard]] shared<channel> open_channel(any_transport const& through, io_driver& io);

namespace detail {

/// Opens the operation of a request for the observer of its call, if no channel or transport above has. Called in `send`.
inline void open_operation(channel const& here, call& context) noexcept {
    if (begin_operation(context)) {
        context.spans.opened_by = &here;
    }
}
/// Ends what `open_operation` opened. Called before the sink.
inline void close_operation(channel const& here, completion const& done, steady_time now) noexcept {
    if (done.context->spans.opened_by == &here) {
        done.context->spans.opened_by = nullptr;
        done.visit([&](auto const& sent, auto const& answer) {
            end_operation(done.request, *done.context, done.begun, now, outcome_of(sent, answer));
        });
    }
}

/// The channel that executes in `poll`, for transports that answer in the call.
[[nodiscard]] shared<channel> open_blocking_channel(any_transport const& through, io_driver& io);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/transport/impl/channel.ipp>
#endif
