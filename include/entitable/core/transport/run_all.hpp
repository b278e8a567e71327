// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The concurrent driver of resumable operations: `run_all` drives many of them on the calling thread.

#include <entitable/core/request/operation.hpp>
#include <entitable/core/request/single_request.hpp>
#include <entitable/core/transport/channel.hpp>
#include <entitable/core/transport/transport.hpp>

#include <optional>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Drives each operation to its end, with its own call, on the calling thread; up to `in_flight` of them, at least one, run at a time, and
/// none waits for another. Steps are sent to the channels by index; all channels belong to the driver `io`, by whose clock it waits, and
/// have no other requests. The caller calls `finish()` of each operation. An operation that uses an index without a channel, or sends a
/// request whose response it does not accept, is abandoned with InternalError. Returns false if the channels stopped responding: the
/// remaining operations are abandoned with TransportFailed. After that, and after an exception thrown by an operation, do not use the
/// channels again.
template <operation Op>
bool run_all(std::vector<Op>& operations, std::vector<call>& calls, std::vector<channel*> const& places, io_driver& io,
    std::size_t in_flight) {
    constexpr auto slice = std::chrono::milliseconds{5}; // a cancellation does not end a wait, so it is polled
    struct running {
        Op* op{};
        call* context{};
        steady_time not_before{};
    };
    std::vector<running> all(operations.size());
    std::vector<running*> due;
    std::vector<running*> paused;
    std::size_t begun = 0;
    std::size_t ended = 0;
    auto const advance = [&](running& one, steady_time now) {
        for (;;) {
            operation_step const step = one.op->next();
            if (step.done()) {
                ++ended;
                return;
            }
            if (step.not_before > now) {
                if (auto allowed = check_call(*one.context, io.time()); !allowed) {
                    one.op->abandon(allowed.error());
                    continue;
                }
                detail::tell_wait(step.request, step.because, *one.context, now, step.not_before);
                one.not_before = step.not_before;
                paused.push_back(&one);
                return;
            }
            bool taken = false;
            step.request.visit([&]<class Request>(Request const&) { taken = takes_answer_to<Op, Request>; });
            if (taken && step.place < places.size()) {
                places[step.place]->send(step.request, *one.context, &one);
                return;
            }
            one.op->abandon(error{error_code::internal_error,
                "an operation sends a request to a transport that does not exist, or rejects the response"});
        }
    };
    auto const take = [&](completion& done) {
        auto& one = *static_cast<running*>(done.tag);
        done.visit([&]<class Request>(Request const&, result<response_of<Request>>& answer) {
            if constexpr (takes_answer_to<Op, Request>) { one.op->answer(std::move(answer), io.time().steady()); }
        });
        due.push_back(&one);
    };
    std::vector<running*> moving;
    while (ended < operations.size()) {
        steady_time const now = io.time().steady();
        moving.swap(due);
        std::erase_if(paused, [&](running* one) {
            bool const ready = one->not_before <= now || !check_call(*one->context, io.time());
            if (ready) { moving.push_back(one); }
            return ready;
        });
        for (running* const one : moving) { advance(*one, now); }
        moving.clear();
        while (begun < operations.size() && (begun - ended < in_flight || begun == ended)) {
            running& next = all[begun];
            next = {&operations[begun], &calls[begun], {}};
            ++begun;
            advance(next, now);
        }
        if (ended == operations.size()) { break; }
        steady_time wakes = paused.empty() ? (steady_time::max)() : now + slice;
        for (running const* const one : paused) { wakes = one->not_before < wakes ? one->not_before : wakes; }
        for (channel* const place : places) {
            place->poll(now, take);
            wakes = place->wakes_at() < wakes ? place->wakes_at() : wakes;
        }
        if (!due.empty()) { continue; }
        if (wakes == (steady_time::max)() && !io.watches()) {
            error silent{error_code::transport_failed, "the transport never responded to a request"};
            silent.effect = effect::unknown;
            for (std::size_t index = 0; index < operations.size(); ++index) {
                while (!operations[index].next().done()) { operations[index].abandon(silent); }
            }
            return false;
        }
        io.wait(wakes);
    }
    return true;
}

ENTITABLE_END_NAMESPACE
