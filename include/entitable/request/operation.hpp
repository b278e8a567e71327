// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Resumable operations: what takes several requests is a value that gives the next request and takes its answer. An operation knows
/// no transport and no clock, so it is tested step by step; the drivers are in the transport room.

#include <entitable/core/clock.hpp>
#include <entitable/core/error.hpp>
#include <entitable/request/observer.hpp>
#include <entitable/request/request_ref.hpp>

#include <concepts>

ENTITABLE_BEGIN_NAMESPACE

/// The next step of an operation.
struct operation_step {
    request_ref request{};                        ///< to be sent; none at the end of the operation
    steady_time not_before{(steady_time::min)()}; ///< the request is sent at this time, or later
    std::size_t place{};                          ///< which of the transports it goes to
    wait_cause because{wait_cause::back_off};     ///< why it is not sent earlier

    /// Whether the operation is at its end: `finish()` has the result.
    [[nodiscard]] constexpr bool done() const noexcept { return !request; }
};

/// A resumable operation.
///
/// Semantic rules:
/// 1. `next()` called twice gives the same. The request stays valid, and the operation where it is, until `answer` or `abandon`.
/// 2. `answer(response, now)` takes the answer to the request of the last step, a `result`, and the time; there is an overload for
///    each kind of request that the operation sends. Time comes from nowhere else.
/// 3. `abandon(error)` ends it early, at any step but the end: the deadline passed, or the caller cancelled.
/// 4. `finish()` is called once, at the end.
template <class T>
concept operation = requires(T& op, error const& reason) {
    { op.next() } -> std::same_as<operation_step>;
    op.abandon(reason);
    op.finish();
};

/// An operation takes the answer to requests of this kind.
template <class Op, class Request>
concept takes_answer_to =
    requires(Op& op, result<response_of<Request>> answer, steady_time now) { op.answer(std::move(answer), now); };

ENTITABLE_END_NAMESPACE
