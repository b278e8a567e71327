// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Many requests through a channel, and a channel that answers the latest first.

#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/transport/channel.hpp>

#include <support/catch.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace entitable_test {

/// The answers to a list of requests.
template <class Request>
struct answered_list {
    std::vector<std::optional<entitable::result<entitable::response_of<Request>>>> answers;
    std::vector<std::size_t> order; ///< the order in which they came
    std::vector<entitable::call> calls;

    [[nodiscard]] std::size_t successes() const {
        std::size_t count = 0;
        for (auto const& each : answers) { count += each && *each ? 1U : 0U; }
        return count;
    }
};

/// Sends the requests, up to `in_flight` at once, each with a copy of the call, until all are answered or the channel is silent.
/// Requires that each is answered once, with its own type.
template <class Request>
answered_list<Request> send_all(entitable::any_store const& through, std::vector<Request> const& requests,
    std::size_t in_flight, entitable::call const& with = {}, entitable::clock& time = entitable::system_clock()) {
    using namespace entitable;
    poll_driver io{time};
    shared<channel> const opened = open_channel(through, io);
    answered_list<Request> list;
    list.answers.resize(requests.size());
    list.calls.assign(requests.size(), with);
    std::size_t sent = 0;
    auto const take = [&](completion& done) {
        auto const at = static_cast<std::size_t>(static_cast<call*>(done.tag) - list.calls.data());
        REQUIRE(at < sent);
        REQUIRE(done.context == &list.calls[at]);
        REQUIRE(done.request.as<Request>() == &requests[at]);
        REQUIRE_FALSE(list.answers[at]);
        CHECK((done.problem == nullptr) == done.answer<Request>().has_value());
        list.answers[at].emplace(std::move(done.answer<Request>()));
        list.order.push_back(at);
    };
    while (list.order.size() < requests.size()) {
        for (; sent < requests.size() && sent - list.order.size() < in_flight; ++sent) {
            opened->send(requests[sent], list.calls[sent], &list.calls[sent]);
        }
        std::size_t const before = list.order.size();
        opened->poll(time.steady(), take);
        if (list.order.size() == before) {
            if (opened->wakes_at() == steady_time::max() && !io.watches()) { break; }
            io.wait(opened->wakes_at());
        }
    }
    return list;
}

/// Answers the latest request in flight first, one per poll, with a function.
class latest_first final : public entitable::channel {
public:
    using answer_function =
        std::function<void(entitable::request_ref, entitable::call&, void* tag, entitable::completion_sink)>;

    explicit latest_first(answer_function answer, std::size_t* most = nullptr)
        : answer_(std::move(answer)), most_(most) {}

    void send(entitable::request_ref request, entitable::call& context, void* tag) override {
        sent_.push_back({request, &context, tag});
        if (most_ != nullptr && *most_ < sent_.size()) { *most_ = sent_.size(); }
    }
    void cancel(void*, entitable::error const&) override {}
    void poll(entitable::steady_time, entitable::completion_sink sink) override {
        if (!sent_.empty()) {
            sent const last = sent_.back();
            sent_.pop_back();
            answer_(last.request, *last.context, last.tag, sink);
        }
    }
    [[nodiscard]] entitable::steady_time wakes_at() const noexcept override {
        return sent_.empty() ? entitable::steady_time::max() : entitable::steady_time::min();
    }

private:
    struct sent {
        entitable::request_ref request;
        entitable::call* context;
        void* tag;
    };
    answer_function answer_;
    std::size_t* most_;
    std::vector<sent> sent_;
};

/// A channel that executes with a transport, latest first; records how many were in flight at once.
template <class Transport>
entitable::shared<entitable::channel> open_latest_first(Transport const& through, std::size_t* most = nullptr) {
    return entitable::shared<entitable::channel>{
        new latest_first{[copy = std::make_shared<Transport>(through)](entitable::request_ref request,
                             entitable::call& context, void* tag, entitable::completion_sink sink) {
                             request.visit([&]<class Request>(Request const& sent) {
                                 auto answer = entitable::execute(*copy, sent, context);
                                 entitable::completion done{sent, answer, context, tag, {}};
                                 sink(done);
                             });
                         },
            most}};
}

/// A transport whose channels answer the latest first.
struct reversed {
    using is_transport = void;
    entitable::any_store inner;
    [[nodiscard]] entitable::profile profile() const { return inner.profile(); }
    template <entitable::table_request Request>
    entitable::result<entitable::response_of<Request>> execute(Request const& request, entitable::call& context) const {
        return inner.execute(request, context);
    }
    [[nodiscard]] entitable::shared<entitable::channel> open(entitable::io_driver&) const {
        return open_latest_first(inner);
    }
};

} // namespace entitable_test
