// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A transport with delayed answers on the clock of the driver, while others are in flight.

#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/transport/channel.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace entitable_test {

/// Answers of `store` that arrive `takes()` after the request was sent; the request is applied when it is sent.
class delayed {
public:
    using is_transport = void;
    delayed(entitable::any_store store, entitable::clock& time, std::function<std::chrono::nanoseconds()> takes)
        : store_(std::move(store)), time_(&time), takes_(std::move(takes)) {}

    [[nodiscard]] entitable::profile profile() const { return store_.profile(); }
    template <entitable::table_request Request>
        requires(!std::same_as<Request, entitable::read_entity> && !std::same_as<Request, entitable::read_entities>)
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        auto answer = store_.execute(request, context);
        time_->wait_until(time_->steady() + std::chrono::duration_cast<entitable::steady_time::duration>(takes_()));
        return answer;
    }
    [[nodiscard]] entitable::shared<entitable::channel> open(entitable::io_driver& io) const;

private:
    struct sent {
        entitable::request_ref request;
        entitable::call* context;
        void* tag;
        entitable::steady_time begun;
        entitable::steady_time ready;
        std::optional<entitable::error> cancelled;
    };
    class lane;

    entitable::any_store store_;
    entitable::clock* time_;
    std::function<std::chrono::nanoseconds()> takes_;
};

class delayed::lane final : public entitable::channel {
public:
    lane(delayed const& of, entitable::io_driver& io) : of_(of), io_(io) {}
    void send(entitable::request_ref request, entitable::call& context, void* tag) override {
        auto const now = io_.time().steady();
        all_.push_back({request, &context, tag, now,
            now + std::chrono::duration_cast<entitable::steady_time::duration>(of_.takes_()), {}});
    }
    void cancel(void* tag, entitable::error const& why) override {
        for (sent& each : all_) {
            if (each.tag == tag) {
                each.cancelled = why;
                each.ready = (entitable::steady_time::min)();
            }
        }
    }
    void poll(entitable::steady_time now, entitable::completion_sink sink) override {
        for (std::size_t at = 0; at < all_.size();) {
            if (all_[at].ready > now) {
                ++at;
                continue;
            }
            sent each = std::move(all_[at]);
            all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(at));
            each.request.visit([&]<class Request>(Request const& request) {
                auto answer = each.cancelled
                    ? entitable::result<entitable::response_of<Request>>{entitable::failure{*each.cancelled}}
                    : of_.store_.execute(request, *each.context);
                entitable::completion done{request, answer, *each.context, each.tag, each.begun};
                sink(done);
            });
        }
    }
    [[nodiscard]] entitable::steady_time wakes_at() const noexcept override {
        auto first = (entitable::steady_time::max)();
        for (sent const& each : all_) { first = each.ready < first ? each.ready : first; }
        return first;
    }

private:
    delayed of_;
    entitable::io_driver& io_;
    std::vector<sent> all_;
};

inline entitable::shared<entitable::channel> delayed::open(entitable::io_driver& io) const {
    return entitable::shared<entitable::channel>{new lane{*this, io}};
}

} // namespace entitable_test
