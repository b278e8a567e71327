// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Drivers of resumable operations: `run` drives one of them on the calling thread, `run_many` drives many with
/// several requests under way.

#include <entitable/request/operation.hpp>
#include <entitable/transport/many.hpp>
#include <entitable/transport/transport.hpp>

#include <span>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Waits until `time`, in slices, so that a cancellation is seen within a few milliseconds.
[[nodiscard]] inline result<void> wait_until(steady_time time, call const& context, clock& source) {
    constexpr auto slice = std::chrono::milliseconds{5};
    for (;;) {
        if (auto allowed = check_call(context, source); !allowed) {
            return allowed;
        }
        steady_time const now = source.steady();
        if (now >= time) {
            return {};
        }
        steady_time until = time - now > slice ? now + slice : time;
        if (context.deadline < until) {
            until = context.deadline;
        }
        source.wait_until(until);
    }
}

/// Drives one operation to its end on the calling thread.
template <operation Op, transport T>
auto run(Op& op, T& through, call& context, clock& time = system_clock()) -> decltype(op.finish()) {
    for (;;) {
        switch (op.next()) {
            case next_step::send:
                op.visit([&](auto const& request) { op.answer(execute(through, request, context)); });
                break;
            case next_step::wait:
                if (auto waited = wait_until(op.wakes_at(), context, time); !waited) {
                    op.abandon(waited.error());
                }
                break;
            case next_step::done: return op.finish();
        }
    }
}

namespace detail {

/// Offers the requests of many operations, each of which sends one kind, to a transport.
template <class Request, class Op>
class operation_feed final : public request_feed<Request> {
public:
    explicit operation_feed(std::span<Op> operations) : operations_(operations), under_way_(operations.size(), '\0') {}

    Request const* next(std::size_t& slot) override {
        for (std::size_t tried = 0; tried < operations_.size(); ++tried) {
            std::size_t const index = at_;
            at_ = (at_ + 1) % operations_.size();
            if (under_way_[index] == 0 && operations_[index].next() == next_step::send) {
                under_way_[index] = 1;
                slot = index;
                Request const* found = nullptr;
                operations_[index].visit([&](Request const& request) { found = &request; });
                return found;
            }
        }
        return nullptr;
    }
    void answer(std::size_t slot, result<response_of<Request>> response) override {
        under_way_[slot] = 0;
        operations_[slot].answer(std::move(response));
    }

private:
    std::span<Op> operations_;
    std::string under_way_; ///< one character per operation
    std::size_t at_{};
};

} // namespace detail

/// Drives many operations that send `Op::request` only, with up to `in_flight` requests under way where the transport
/// can. Every operation is at its end afterwards; its owner calls `finish()`.
template <operation Op, transport T>
void run_many(
    std::span<Op> operations, T& through, std::size_t in_flight, call& context, clock& time = system_clock()) {
    detail::operation_feed<typename Op::request, Op> feed{operations};
    for (;;) {
        execute_many(through, feed, in_flight, context);
        // Nothing can be sent now: each one is at its end or waits.
        std::optional<steady_time> first;
        for (Op& op : operations) {
            if (op.next() == next_step::wait && (!first || op.wakes_at() < *first)) {
                first = op.wakes_at();
            }
        }
        if (!first) {
            return;
        }
        if (auto waited = wait_until(*first, context, time); !waited) {
            for (Op& op : operations) {
                if (op.next() != next_step::done) {
                    op.abandon(waited.error());
                }
            }
        }
    }
}

ENTITABLE_END_NAMESPACE
