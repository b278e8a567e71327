// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The interface between the typed library and the stores.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/kinds.hpp>
#include <entitable/core/request/profile.hpp>
#include <entitable/core/transport/attempt.hpp>

#include <concepts>

ENTITABLE_BEGIN_NAMESPACE

/// Whether the transport handles requests of this kind. It opts in to `read_entity` by naming itself in `T::visits_entities`, and to
/// `read_entities` in `T::visits_pages`: a derived class that handles `get_entity` in its own way still receives it, as does a class that
/// copies requests or handles them by a template.
template <class T, class Request>
concept answers =
    requires(T& transport, Request const& request, call& context) {
        { transport.execute(request, context) } -> std::same_as<result<response_of<Request>>>;
    } && (!std::same_as<Request, read_entity> || requires { requires std::same_as<typename T::visits_entities, T>; }) &&
    (!std::same_as<Request, read_entities> || requires { requires std::same_as<typename T::visits_pages, T>; });

/// Stores entities, or wraps a transport that does.
///
/// Semantic rules:
/// 1. It is a cheap handle: copies share one state and own it jointly.
/// 2. It is safe to use from several threads.
/// 3. One call handles one request: one page, without retries unless retrying is its purpose.
/// 4. A page may be empty and have a continuation; there are more rows if and only if there is a continuation.
/// 5. It validates each request against its own profile, before any I/O.
/// 6. After an error with `effect::none` nothing was applied. The error of a write whose outcome is unknown has `effect::unknown`.
/// 7. It checks `call::deadline` and `call::cancellation` before it starts and during each wait.
/// 8. A terminal transport counts each attempt and reports it to the call's observer: `count_attempt` does both. A transport that
///    sends several requests for one request does so in `as_operation`.
/// 9. It throws no exceptions of its own; std::bad_alloc is propagated and leaves the data intact.
/// 10. A write is atomic: nothing happens between its condition and its effect, a merge retains other writers' changes, and a page of one
///     partition shows either all or none of a transaction.
template <class T>
concept transport = std::copy_constructible<T> &&
    requires(T const& transport) {
        // opts in: no type becomes a transport by accident
        typename T::is_transport;
        // features of the service behind it
        { transport.profile() } -> std::convertible_to<profile>;
    } &&
    // the minimum for a typed table; missing kinds of requests return NotSupported
    answers<T, get_entity> && answers<T, query_entities> && answers<T, write_entity>;

/// A transport that never waits, so asynchronous callers can call it directly. It opts in by naming itself: a derived class or a wrapper
/// may wait.
template <class T>
concept answers_at_once = requires { requires std::same_as<typename T::answers_at_once, T>; };

namespace detail {

/// Passes the rows of a page to a visitor one by one, because they may be out of order.
ENTITABLE_LAZY [[nodiscard]] result<read_entities::response> show_page(
    result<query_entities::response> found, page_visitor const& visit);

} // namespace detail

/// Sends `request` through `transport`. Errors: NotSupported if it does not handle that kind. A transport without `read_entity` or
/// `read_entities` receives `get_entity` or `query_entities` instead.
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
            error_code::not_supported, "this transport does not support the request " + std::string{Request::name}};
    }
}

/// Checks that a call may start or continue. Errors: Cancelled, DeadlineExceeded.
[[nodiscard]] inline result<void> check_call(call const& context, clock& time = system_clock()) {
    if (context.cancellation.cancelled()) { return failure{error_code::cancelled, "the call was cancelled"}; }
    if (context.deadline != no_deadline && time.steady() >= context.deadline) {
        return failure{error_code::deadline_exceeded, "the deadline of the call has passed"};
    }
    return {};
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/transport/impl/transport.ipp>
#endif

#endif
