// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/pending_list.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/transport/channel.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY void close_operation(channel const& here, completion const& done, steady_time now) noexcept {
    if (done.context->spans.opened_by == &here) {
        done.context->spans.opened_by = nullptr;
        done.visit([&](auto const& sent, auto const& answer) {
            end_operation(done.request, *done.context, done.begun, now, outcome_of(sent, answer));
        });
    }
}

/// Executes request by request in `poll`. A template, so that a file compiles its members only if it opens one.
template <class Transport>
class blocking_channel final : public channel {
public:
    blocking_channel(Transport through, io_driver& io) : through_(std::move(through)), io_(io) {}

    void send(request_ref request, call& context, void* tag) override { sent_.push_back({request, &context, tag, {}}); }
    void cancel(void* tag, error const& why) override {
        if (sent* const found = sent_.find([&](sent const& each) { return each.tag == tag; })) {
            found->cancelled.emplace(why);
        }
    }
    void poll(steady_time, completion_sink sink) override {
        sent_.take_each([&](sent& each) {
            each.request.visit([&]<class Request>(Request const& request) {
                steady_time const begun = io_.time().steady();
                auto answer = each.cancelled ? result<response_of<Request>>{failure{*std::move(each.cancelled)}}
                                             : through_.execute(request, *each.context);
                completion done{request, answer, *each.context, each.tag, begun};
                sink(done);
            });
        });
    }
    [[nodiscard]] steady_time wakes_at() const noexcept override {
        return sent_.empty() ? (steady_time::max)() : (steady_time::min)();
    }

private:
    struct sent {
        request_ref request;
        call* context;
        void* tag;
        std::optional<error> cancelled;
    };

    Transport through_;
    io_driver& io_;
    pending_list<sent> sent_;
};

template <class Transport>
shared<channel> make_blocking_channel(Transport const& through, io_driver& io) {
    return shared<channel>{new blocking_channel<Transport>{through, io}};
}

ENTITABLE_LAZY_BODY shared<channel> open_blocking_channel(any_store const& through, io_driver& io) {
    return make_blocking_channel(through, io);
}

} // namespace detail

ENTITABLE_DECL shared<channel> any_store::open(io_driver& io) const {
    shared<channel> opened;
    if (interface_) { interface_->open(io, opened); }
    return opened;
}

ENTITABLE_LAZY_BODY shared<channel> open_channel(any_store const& through, io_driver& io) {
    shared<channel> own = through.open(io);
    return own ? own : detail::open_blocking_channel(through, io);
}

ENTITABLE_END_NAMESPACE
