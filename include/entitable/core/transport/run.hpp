// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The driver of resumable operations: `run` drives one of them on the calling thread.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/request/operation.hpp>
#include <entitable/core/request/single_request.hpp>
#include <entitable/core/transport/transport.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// Waits until `time`, in slices of 5 ms. Errors: Cancelled and DeadlineExceeded.
[[nodiscard]] inline result<void> wait_until(steady_time time, call const& context, clock& source) {
    constexpr auto slice = std::chrono::milliseconds{5};
    for (;;) {
        if (auto allowed = check_call(context, source); !allowed) { return allowed; }
        steady_time const now = source.steady();
        if (now >= time) { return {}; }
        steady_time until = time - now > slice ? now + slice : time;
        if (context.deadline < until) { until = context.deadline; }
        source.wait_until(until);
    }
}

/// Drives an operation of at most one request to its end on the calling thread, without a clock.
template <class Op, class Transport>
    requires operation_of_one<std::remove_cvref_t<Op>>
auto run_one(Op&& op, call& context, Transport& through) -> decltype(op.finish()) {
    return op.finish_with([&](auto const& request) { return through.execute(request, context); });
}

/// Drives one operation to its end on the calling thread, under one call; or, given `call_options`, each of its requests under its own
/// call, whose timeout starts with it. Its steps are sent to the transports by index, from 0. Each wait is reported to the observer of the
/// call. Errors: InternalError if the operation uses an index without a transport, or sends a request whose response it does not accept.
template <operation Op, class Calls, transport First, transport... More>
    requires std::same_as<Calls, call> || std::same_as<std::remove_const_t<Calls>, call_options>
auto run(Op& op, Calls& calls, clock& time, First& first, More&... more) -> decltype(op.finish()) {
    std::optional<call> own;
    for (;;) {
        operation_step const due = op.next();
        if (due.done()) { return op.finish(); }
        call& context = [&]() -> call& {
            if constexpr (std::same_as<Calls, call>) {
                return calls;
            } else {
                return own.emplace(calls, time);
            }
        }();
        if (due.not_before > (steady_time::min)()) {
            if (steady_time const now = time.steady(); due.not_before > now) {
                detail::tell_wait(due.request, due.because, context, now, due.not_before);
                if (auto waited = wait_until(due.not_before, context, time); !waited) {
                    op.abandon(waited.error());
                    continue;
                }
            }
        }
        bool answered = false;
        due.request.visit([&]<class Request>(Request const& request) {
            if constexpr (takes_answer_to<Op, Request>) {
                std::size_t place = 0;
                auto const ask = [&](auto& through, auto& asking) { // Clang checks a discarded `op.answer`
                    if (place++ == due.place) {
                        auto answer = execute(through, request, context);
                        asking.answer(std::move(answer), time.steady()); // uses the time after the response
                        answered = true;
                    }
                };
                ask(first, op);
                if (!answered) { (ask(more, op), ...); }
            }
        });
        if (!answered) {
            op.abandon(error{error_code::internal_error,
                "an operation sends a request to a transport that does not exist, or rejects the response"});
        }
    }
}

ENTITABLE_END_NAMESPACE

#endif
