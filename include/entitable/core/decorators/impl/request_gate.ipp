// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/decorators/detail/request_gate.hpp>
#include <entitable/core/detail/pending_list.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

class gated_channel final : public channel {
public:
    gated_channel(shared<channel> below, shared<request_gate> gate)
        : below_(std::move(below)), gate_(std::move(gate)) {}
    ~gated_channel() override { below_ = {}; } // the lower channel refers to the calls

    void send(request_ref request, call& context, void* tag) override {
        open_operation(*this, context);
        steady_time const now = gate_->time().steady();
        auto const allowed = check_call(context, gate_->time());
        auto const admitted = allowed ? gate_->enter(now, context.deadline) : failure{allowed.error()};
        if (!admitted) { return refused_.push_back({{request, &context, tag, now, now, {}}, admitted.error()}); }
        if (*admitted <= now) { return below_->send(request, context, tag); }
        tell_wait(request, wait_cause::rate_limit, context, now, *admitted);
        waiting_.push_back({request, &context, tag, now, *admitted, {}});
    }
    void cancel(void* tag, error const& why) override {
        for (waiting& each : waiting_) {
            if (each.tag == tag) {
                each.cancelled.emplace(why);
                return;
            }
        }
        below_->cancel(tag, why);
    }
    void poll(steady_time now, completion_sink sink) override {
        refuse_and_send(now);
        refused_.take_each([&](refused& each) {
            each.of.request.visit([&]<class Request>(Request const& request) {
                result<response_of<Request>> answer{failure{std::move(each.problem)}};
                completion done{request, answer, *each.of.context, each.of.tag, each.of.begun};
                tell(done, sink);
            });
        });
        below_->poll(now, [&](completion& done) {
            gate_->leave(done.problem, gate_->time().steady());
            tell(done, sink);
        });
    }
    [[nodiscard]] steady_time wakes_at() const noexcept override {
        if (!refused_.empty()) { return (steady_time::min)(); }
        steady_time wakes = below_->wakes_at();
        if (waiting_.empty()) { return wakes; }
        // A cancellation token does not wake the driver, so it is polled.
        wakes = (std::min)(wakes, gate_->time().steady() + std::chrono::milliseconds{5});
        for (waiting const& each : waiting_) {
            wakes = (std::min)(wakes, each.cancelled ? (steady_time::min)() : each.admitted);
        }
        return wakes;
    }

private:
    struct waiting {
        request_ref request;
        call* context;
        void* tag;
        steady_time begun;
        steady_time admitted;
        std::optional<error> cancelled;
    };
    struct refused {
        waiting of;
        error problem;
    };

    /// Sends the requests whose time has come, in the order of their admission, and ends those that were cancelled or are late.
    void refuse_and_send(steady_time now) {
        std::size_t kept = 0;
        for (std::size_t index = 0; index < waiting_.size(); ++index) {
            waiting& each = waiting_[index];
            auto const allowed = check_call(*each.context, gate_->time());
            if (each.cancelled || !allowed) {
                error problem = each.cancelled ? *each.cancelled : allowed.error();
                refused_.push_back({std::move(each), std::move(problem)});
            } else if (each.admitted <= now) {
                below_->send(each.request, *each.context, each.tag);
            } else {
                if (kept != index) { waiting_[kept] = std::move(each); }
                ++kept;
            }
        }
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(kept), waiting_.end());
    }
    void tell(completion& done, completion_sink sink) {
        close_operation(*this, done, gate_->time().steady());
        sink(done);
    }

    shared<channel> below_;
    shared<request_gate> gate_;
    std::vector<waiting> waiting_; ///< in the order of admission
    pending_list<refused> refused_;
};

ENTITABLE_DECL shared<channel> open_gated_channel(shared<channel> below, shared<request_gate> gate) {
    return shared<channel>{new gated_channel{std::move(below), std::move(gate)}};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
