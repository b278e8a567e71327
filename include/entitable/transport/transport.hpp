// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The seam between the typed library above and everything that stores entities below.

#include <entitable/request/call.hpp>
#include <entitable/request/kinds.hpp>
#include <entitable/request/profile.hpp>
#include <entitable/transport/attempt.hpp>

#include <concepts>

ENTITABLE_BEGIN_NAMESPACE

/// The transport answers requests of this kind. It opts in to `read_entity` by naming itself in `T::visits_entities`, and to
/// `read_entities` in `T::visits_pages`: a class that derives from it and answers `get_entity` in its own way is still sent that, and so
/// is one that keeps copies of requests or answers them by a template.
template <class T, class Request>
concept answers =
    requires(T& transport, Request const& request, call& context) {
        { transport.execute(request, context) } -> std::same_as<result<response_of<Request>>>;
    } && (!std::same_as<Request, read_entity> || requires { requires std::same_as<typename T::visits_entities, T>; }) &&
    (!std::same_as<Request, read_entities> || requires { requires std::same_as<typename T::visits_pages, T>; });

/// Stores entities, or wraps a transport that does.
///
/// Semantic rules:
/// 1. It is a cheap handle: copies share one state, and a copy keeps that state alive.
/// 2. It is safe to use from several threads.
/// 3. One call answers one request: a page is one page, a failure is final unless retrying is its purpose.
/// 4. A page may be empty and have a continuation; there is more exactly when there is a continuation.
/// 5. It validates what it is given against its own profile, before any I/O.
/// 6. After an error with `effect::none` nothing was applied. The error of a write whose fate is not known has `effect::unknown`.
/// 7. It looks at `call::deadline` and `call::cancellation` before it starts and wherever it waits.
/// 8. A terminal transport counts each attempt and reports it to the call's observer: `count_attempt` does both. One that sends several
///    requests for one does so in `as_operation`.
/// 9. It throws nothing of its own; running out of memory passes through and leaves the data whole.
/// 10. A write is atomic: nothing comes between its condition and its effect, a merge keeps what others write, and a page of one
///     partition shows all of a transaction or nothing of it.
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

/// A transport that never waits, so that an asynchronous caller calls it directly. It opts in by naming itself: a class that derives
/// from it, or wraps it, may wait.
template <class T>
concept answers_at_once = requires { requires std::same_as<typename T::answers_at_once, T>; };

namespace detail {

/// Passes the rows of a page to a visitor one by one, since they may not be in order.
ENTITABLE_LAZY [[nodiscard]] result<read_entities::response> show_page(
    result<query_entities::response> found, run_watcher const& visit);

} // namespace detail

/// Sends `request` through `transport`; NotSupported when it does not answer that kind. A transport that does not answer `read_entity` or
/// `read_entities` is sent `get_entity` or `query_entities` instead.
template <transport T, table_request Request>
[[nodiscard]] result<response_of<Request>> execute(T& transport, Request const& request, call& context) {
    if constexpr (answers<T, Request>) {
        return transport.execute(request, context);
    } else if constexpr (std::same_as<Request, read_entity>) {
        get_entity const asked{
            std::string{request.table}, std::string{request.partition_key}, std::string{request.row_key}, {}};
        auto found = transport.execute(asked, context);
        return found ? (*request.visit)(found->entity.view(), found->etag, found->stale)
                     : std::move(found).as_failure();
    } else if constexpr (std::same_as<Request, read_entities>) {
        return detail::show_page(transport.execute(*request.asked, context), *request.visit);
    } else {
        return failure{
            error_code::not_supported, "this transport does not know the request " + std::string{Request::name}};
    }
}

/// Checks that a call may start or continue. Errors: Cancelled, DeadlineExceeded.
[[nodiscard]] inline result<void> check_call(call const& context, clock& time = system_clock()) {
    if (context.cancellation.cancelled()) {
        return failure{error_code::cancelled, "the call was cancelled"};
    }
    if (context.deadline != no_deadline && time.steady() >= context.deadline) {
        return failure{error_code::deadline_exceeded, "the deadline of the call has passed"};
    }
    return {};
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/transport/impl/transport.ipp>
#endif
