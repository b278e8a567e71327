// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `channel`: many concurrent requests of any kinds, from one thread. A channel does not wait: one `io_driver` waits for all channels of a
/// thread.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/function_ref.hpp>
#include <entitable/core/io_driver.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/request_ref.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/core/transport/attempt.hpp>

#include <cstddef>

ENTITABLE_BEGIN_NAMESPACE

/// A completed request. Its members are references that are valid while the sink runs; the sink moves the response out.
class completion {
public:
    /// Completes this request, with its call, tag and start time.
    template <table_request Request>
    completion(Request const& sent, result<response_of<Request>>& answered, call& sent_with, void* sent_as,
        steady_time begun_at) noexcept
        : request(sent),
          context(&sent_with),
          tag(sent_as),
          begun(begun_at),
          problem(answered ? nullptr : &answered.error()),
          answer_(&answered) {}

    request_ref request;  ///< request as it was sent
    call* context;        ///< call as it was sent
    void* tag;            ///< tag as it was sent
    steady_time begun;    ///< start time
    error const* problem; ///< null on success

    /// The response to a request of this kind; undefined for a request of a different kind.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>>& answer() const noexcept {
        return *static_cast<result<response_of<Request>>*>(answer_);
    }
    /// Calls `f(request, answer)` with the request and the response as their concrete types.
    template <class F>
    void visit(F&& f) const {
        request.visit([&]<class Request>(Request const& sent) { f(sent, answer<Request>()); });
    }

private:
    void* answer_;
};

/// Receives completions.
using completion_sink = function_ref<void(completion&)>;

/// Concurrent requests of any kinds to one transport.
///
/// Semantic rules:
/// 1. All calls come from one thread. The driver must outlive the channel.
/// 2. Request and call must not be moved before their completion or the destruction of the channel.
/// 3. Each request has exactly one completion, even if it is cancelled or cannot be sent.
/// 4. Completions come from `poll` only, never from `send` or `cancel`. A sink may send and cancel. If it throws, the exception
///    is propagated and nothing is lost: the next `poll` continues.
/// 5. A tag must differ from those of all pending requests. It may be reused after its completion.
/// 6. The guarantees of the transport hold for requests in a channel: order of attempts, deadlines, cancellation, effects.
///    Requests may overtake each other.
class channel : public counted {
public:
    virtual ~channel() = default;

    /// Starts a request; its completion has the tag.
    virtual void send(request_ref request, call& context, void* tag) = 0;
    /// Ends a request early: the next `poll` completes it, with `why` unless its response has arrived, and with the effect that follows
    /// from the requests sent.
    virtual void cancel(void* tag, error const& why) = 0;
    /// Completes the requests with responses and advances the other requests, without waiting. `now` is the time of the driver.
    virtual void poll(steady_time now, completion_sink sink) = 0;
    /// The latest time for the next `poll`, even if nothing arrives.
    [[nodiscard]] virtual steady_time wakes_at() const noexcept = 0;
    /// The number of writes of one row that the channel sends together if they start together; 1 if it sends each by itself. A bulk load
    /// keeps at least that many in flight.
    [[nodiscard]] virtual std::size_t group_size() const noexcept { return 1; }
};

/// A transport with its own channel.
template <class T>
concept opens_channels = requires(T const& transport, io_driver& io) {
    { transport.open(io) } -> std::same_as<shared<channel>>;
};

class any_store;

/// Opens a channel to a transport: its own, or one that executes request by request in `poll`.
ENTITABLE_LAZY [[nodiscard]] shared<channel> open_channel(any_store const& through, io_driver& io);

namespace detail {

/// Opens the operation of a request for the observer of its call, unless a channel or transport above has opened it. Called in `send`.
inline void open_operation(channel const& here, call& context) noexcept {
    if (begin_operation(context)) { context.spans.opened_by = &here; }
}
/// Ends the operation that `open_operation` opened. Called before the sink.
ENTITABLE_LAZY void close_operation(channel const& here, completion const& done, steady_time now) noexcept;

/// Opens the channel that executes in `poll`, for transports that respond during the call.
ENTITABLE_LAZY [[nodiscard]] shared<channel> open_blocking_channel(any_store const& through, io_driver& io);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/transport/impl/channel.ipp>
#endif

#endif
