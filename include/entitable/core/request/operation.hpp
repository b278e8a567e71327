// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Resumable operations: a task of several requests is a value that returns the next request and accepts the response. An operation depends
/// on no transport and no clock, so it is tested step by step; the folder `transport` has the drivers.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/clock.hpp>
#include <entitable/core/error.hpp>
#include <entitable/core/request/observer.hpp>
#include <entitable/core/request/request_ref.hpp>

#include <concepts>

ENTITABLE_BEGIN_NAMESPACE

/// The next step of an operation.
struct operation_step {
    request_ref request{};                        ///< the request to send; empty at the end of the operation
    steady_time not_before{(steady_time::min)()}; ///< the request is sent at this time, or later
    std::size_t place{};                          ///< index of the transport that receives it
    wait_cause because{wait_cause::back_off};     ///< cause of the delay

    /// Whether the operation has ended: `finish()` returns the result.
    [[nodiscard]] constexpr bool done() const noexcept { return !request; }
};

/// A resumable operation.
///
/// Semantic rules:
/// 1. `next()` called twice returns the same step. The request stays valid, and the operation must not be moved, until `answer` or
///    `abandon`.
/// 2. `answer(response, now)` takes the response to the latest request, a `result`, and the time; there is an overload for
///    each kind of request that the operation sends. It is the only source of time.
/// 3. `abandon(error)` ends the operation early, at any step before the end: the deadline passed, or the caller cancelled.
/// 4. `finish()` is called once, at the end.
template <class T>
concept operation = requires(T& op, error const& reason) {
    { op.next() } -> std::same_as<operation_step>;
    op.abandon(reason);
    op.finish();
};

/// Whether an operation accepts the response to requests of this kind.
template <class Op, class Request>
concept takes_answer_to =
    requires(Op& op, result<response_of<Request>> answer, steady_time now) { op.answer(std::move(answer), now); };

ENTITABLE_END_NAMESPACE

#endif
