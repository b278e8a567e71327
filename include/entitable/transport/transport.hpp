// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The seam between the typed library above and everything that stores entities below.

#include <entitable/core/function_ref.hpp>
#include <entitable/request/call.hpp>
#include <entitable/request/profile.hpp>
#include <entitable/request/requests.hpp>

#include <concepts>

ENTITABLE_BEGIN_NAMESPACE

/// The transport answers requests of this kind.
template <class T, class Request>
concept answers = requires(T& transport, Request const& request, call& context) {
    { transport.execute(request, context) } -> std::same_as<result<response_of<Request>>>;
};

/// Something that stores entities, or stands in front of something that does.
///
/// Semantic rules:
/// 1. It is a cheap handle: copies share one state, and a copy keeps that state alive.
/// 2. It is safe to use from several threads.
/// 3. One call answers one request: a page is one page, a failure is final unless retrying is its purpose.
/// 4. A page may be empty and have a continuation; there is more exactly when there is a continuation.
/// 5. It validates what it is given against its own profile, before any I/O.
/// 6. After an error with `effect::none` nothing was applied. A write whose fate is not known says `effect::unknown`.
/// 7. It looks at `call::deadline` and `call::cancellation` before it starts and wherever it waits.
/// 8. Where requests come to their end, each try is counted and told to the observer of the call: `attempted` does both.
/// 9. It throws nothing of its own; running out of memory passes through and leaves the data whole.
template <class T>
concept transport = std::copy_constructible<T> &&
    requires(T const& transport) {
        // opts in: no type becomes a transport by accident
        typename T::is_transport;
        // what the service behind it can do
        { transport.profile() } -> std::convertible_to<profile>;
    } &&
    // the least that a typed table needs; other requests are answered with NotSupported where they are missing
    answers<T, get_entity> && answers<T, query_entities> && answers<T, write_entity>;

/// Sends `request` through `transport`; NotSupported when it has no such request.
template <transport T, table_request Request>
[[nodiscard]] result<response_of<Request>> execute(T& transport, Request const& request, call& context) {
    if constexpr (answers<T, Request>) {
        return transport.execute(request, context);
    } else {
        return failure{
            error_code::not_supported, "this transport does not know the request " + std::string{Request::name}};
    }
}

/// Takes an entity that was read: the row, its version, and whether it came from a secondary location. What it refers to dies
/// with the call. What it returns is the outcome of the read.
using entity_visitor = function_ref<result<void>(row_view const& entity, etag const& version, bool stale)>;

/// A transport that shows one entity without making a row of its own for it, which costs an allocation or two less than
/// `get_entity`. It calls the visitor once and holds no lock then. `visits_entities` names the transport itself, so that one that
/// inherits from it, and answers `get_entity` in its own way, is still asked for that.
template <class T>
concept visits_entities =
    requires(T& transport, entity_address const& address, call& context, entity_visitor const& visit) {
        requires std::same_as<typename T::visits_entities, T>;
        { transport.visit_entity(address, context, visit) } -> std::same_as<result<void>>;
    };

/// Reads one entity and shows it to `visit`. Errors are those of `get_entity`, and what `visit` returns.
template <transport T>
[[nodiscard]] result<void> visit_entity(
    T& transport, entity_address const& address, call& context, entity_visitor const& visit) {
    if constexpr (visits_entities<T>) {
        return transport.visit_entity(address, context, visit);
    } else {
        get_entity const request{
            std::string{address.table}, std::string{address.partition_key}, std::string{address.row_key}, {}};
        auto found = transport.execute(request, context);
        return found ? visit(found->entity.view(), found->etag, found->stale) : std::move(found).as_failure();
    }
}

/// Refuses to start when the caller has cancelled or its deadline has passed.
[[nodiscard]] inline result<void> check_call(call const& context, clock& time = system_clock()) {
    if (context.cancellation.cancelled()) {
        return failure{error_code::cancelled, "the call was cancelled"};
    }
    if (context.deadline != no_deadline && time.steady() >= context.deadline) {
        return failure{error_code::deadline_exceeded, "the deadline of the call has passed"};
    }
    return {};
}

/// Makes an answer, counts the try, and tells the observer of the call: for transports that pass a request to no other one. The name
/// of the request, and its table where it has one.
template <std::invocable Answer>
[[nodiscard]] std::invoke_result_t<Answer const&> attempted(
    std::string_view request, std::string_view table, call& context, clock& time, Answer const& answer) {
    ++context.attempts;
    if (context.watch == nullptr) {
        return answer();
    }
    steady_time const begun = time.steady();
    auto response = answer();
    attempt made;
    made.request = request;
    made.table = table;
    made.number = context.attempts;
    made.duration = time.steady() - begun;
    made.error = response ? nullptr : &response.error();
    context.watch->on_attempt(made);
    return response;
}
template <table_request Request, std::invocable Answer>
[[nodiscard]] result<response_of<Request>> attempted(
    Request const& request, call& context, clock& time, Answer const& answer) {
    std::string_view table;
    if constexpr (requires { request.table; }) {
        table = request.table;
    }
    return attempted(Request::name, table, context, time, answer);
}

ENTITABLE_END_NAMESPACE
