// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `request_gate`: decides when a request to a store may be sent. `limited` and `breaking` are gates before a store.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/clock.hpp>
#include <entitable/core/decorators/detail/retry_course.hpp>
#include <entitable/core/result.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/transport/channel.hpp>
#include <entitable/core/transport/run.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Thread safety: safe to use from several threads.
class request_gate : public counted {
public:
    explicit request_gate(clock& time) noexcept : time_(&time) {}
    virtual ~request_gate() = default;

    /// Returns the time from which one more request may be sent, or the error that refuses the request. `deadline`: of its call.
    [[nodiscard]] virtual result<steady_time> enter(steady_time now, steady_time deadline) = 0;
    /// Records the end of a request that was sent; `problem` is null after a success.
    virtual void leave(error const* problem, steady_time now) noexcept = 0;

    [[nodiscard]] clock& time() const noexcept { return *time_; }

private:
    clock* time_;
};

/// Sends one request when the gate admits it.
template <transport T, table_request Request>
[[nodiscard]] result<response_of<Request>> send_through(
    request_gate& gate, T& below, Request const& request, call& context) {
    return as_operation(request, context, gate.time(), [&]() -> result<response_of<Request>> {
        auto const allowed = check_call(context, gate.time());
        if (!allowed) { return failure{allowed.error()}; } // not a failure of the store
        steady_time const now = gate.time().steady();
        auto const admitted = gate.enter(now, context.deadline);
        if (!admitted) { return failure{admitted.error()}; }
        if (*admitted > now) {
            tell_wait(request, wait_cause::rate_limit, context, now, *admitted);
            auto const waited = wait_until(*admitted, context, gate.time());
            if (!waited) { return failure{waited.error()}; }
        }
        auto answer = entitable::execute(below, request, context);
        gate.leave(answer ? nullptr : &answer.error(), gate.time().steady());
        return answer;
    });
}

/// Opens a channel that sends each request to `below` when the gate admits it.
[[nodiscard]] shared<channel> open_gated_channel(shared<channel> below, shared<request_gate> gate);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/decorators/impl/request_gate.ipp>
#endif

#endif
