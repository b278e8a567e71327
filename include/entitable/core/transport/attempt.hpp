// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How transports report to the observer of a call: `count_attempt` and `as_operation` for transports that respond
/// during the call, and the parts of both functions for transports that respond later. Without an observer no clock is
/// read and no record is made.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/request_ref.hpp>

#include <concepts>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Fields of a request for an observer.
struct request_words {
    std::string_view name;
    std::string_view table;
    std::size_t batch_size{};
};
ENTITABLE_LAZY [[nodiscard]] request_words words_of(request_ref asked) noexcept;

/// Draws a unique id for a span of this call. Never 0.
ENTITABLE_LAZY [[nodiscard]] std::uint64_t draw_span_id(call& context) noexcept;

/// Opens the operation of the request that is about to be sent, if the call is observed and no operation is open. Returns whether it opened an operation: the same code then ends the operation, or calls `forget_operation` if there is no outcome.
[[nodiscard]] inline bool begin_operation(call& context) noexcept {
    if (context.watch == nullptr || context.spans.operation != 0) { return false; }
    context.spans.operation = draw_span_id(context);
    context.spans.attempts_before = context.attempts;
    return true;
}
inline void forget_operation(call& context) noexcept { context.spans.operation = 0; }
/// Reports the operation that `begin_operation` opened, and closes it.
ENTITABLE_LAZY void end_operation(
    request_ref asked, call& context, steady_time begun, steady_time ended, outcome_record outcome) noexcept;

/// Makes the outcome of a request, without the number of rows.
ENTITABLE_LAZY [[nodiscard]] outcome_record outcome_of(error const* problem) noexcept;
/// Whether the caller expects this error of its request, so that observers record a success.
template <table_request Request>
[[nodiscard]] constexpr bool expects(
    [[maybe_unused]] Request const& request, [[maybe_unused]] error_code code) noexcept {
    if constexpr (requires { request.may_exist; }) {
        return request.may_exist && code == error_code::table_already_exists;
    } else if constexpr (requires { request.may_be_absent; }) {
        return request.may_be_absent && code == error_code::resource_not_found;
    } else {
        return false;
    }
}
/// Makes the outcome of a request.
template <table_request Request>
[[nodiscard]] outcome_record outcome_of(Request const& request, result<response_of<Request>> const& answered) noexcept {
    bool const expected = !answered && expects(request, answered.error().code);
    outcome_record made = outcome_of(answered || expected ? nullptr : &answered.error());
    if constexpr (std::same_as<Request, get_entity> || std::same_as<Request, read_entity>) {
        if (answered) { made.rows = 1; }
    } else if constexpr (requires { answered->rows.size(); }) {
        if (answered) { made.rows = answered->rows.size(); }
    } else if constexpr (requires { answered->shown; }) {
        if (answered) { made.rows = answered->shown; }
    }
    return made;
}

/// Reports an attempt that was already counted. Takes the number and the ids, except the id of its own span, from the call, and the other
/// fields from the request, if there is one.
ENTITABLE_LAZY void tell_attempt(request_ref sent, attempt_record& done, call const& context) noexcept;
/// Reports a wait before a request.
ENTITABLE_LAZY void tell_wait(
    request_ref next, wait_cause cause, call const& context, steady_time begun, steady_time until) noexcept;

/// Closes an operation that an exception has left open.
class operation_scope {
public:
    explicit operation_scope(call& context) noexcept : context_(begin_operation(context) ? &context : nullptr) {}
    ~operation_scope() {
        if (context_ != nullptr) { forget_operation(*context_); }
    }
    operation_scope(operation_scope const&) = delete;
    operation_scope& operator=(operation_scope const&) = delete;
    [[nodiscard]] bool opened() const noexcept { return context_ != nullptr; }

private:
    call* context_;
};

} // namespace detail

/// Runs `answer` as one operation of the call; used by transports that may send several requests for one request. The outermost transport of an
/// observed call opens its operation and reports its end; transports below it only run `answer`.
template <table_request Request, std::invocable Answer>
[[nodiscard]] result<response_of<Request>> as_operation(
    Request const& request, call& context, clock& time, Answer const& answer) {
    detail::operation_scope const scope{context};
    steady_time const begun = scope.opened() ? time.steady() : steady_time{};
    auto answered = answer();
    if (scope.opened()) {
        detail::end_operation(request, context, begun, time.steady(), detail::outcome_of(request, answered));
    }
    return answered;
}

/// Runs `answer` as one attempt: counts it and reports it to the call's observer. For terminal transports. `server` may be null; otherwise
/// it must live as long as the transport.
template <table_request Request, std::invocable Answer>
[[nodiscard]] result<response_of<Request>> count_attempt(
    Request const& request, call& context, clock& time, Answer const& answer, server_identity const* server = nullptr) {
    return as_operation(request, context, time, [&]() -> result<response_of<Request>> {
        ++context.attempts;
        context.spans.server = server;
        bool const watched = context.watch != nullptr;
        steady_time const begun = watched ? time.steady() : steady_time{};
        auto answered = answer();
        if (watched) {
            attempt_record done;
            done.span.own.span_id = detail::draw_span_id(context);
            done.begun = begun;
            done.ended = time.steady();
            done.outcome = detail::outcome_of(request, answered);
            detail::tell_attempt(request, done, context);
        }
        return answered;
    });
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/transport/impl/attempt.ipp>
#endif

#endif
