// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `http_channel`: many concurrent HTTP requests, from one thread.

#include <entitable/cloud/http/http_client.hpp>
#include <entitable/core/detail/pending_list.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/io_driver.hpp>
#include <entitable/core/shared.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// Receives responses.
using http_sink = function_ref<void(void* tag, result<http_response>&& response)>;

/// Concurrent requests to any servers. The rules are those of `channel`: one thread; the driver must outlive the channel; a request must
/// not change until its response, which is delivered exactly once, and only by `poll`; a sink may send and cancel, and an exception that it
/// throws loses no other response; a tag differs from those of all other requests in flight.
class http_channel : public counted {
public:
    virtual ~http_channel() = default;

    /// Starts a request within the limits of `how`.
    virtual void send(http_request const& request, http_call const& how, void* tag) = 0;
    /// Ends a request early: its response is `why`, with the effect that follows from the bytes sent.
    virtual void cancel(void* tag, error const& why) = 0;
    /// Delivers the responses that have arrived and advances the rest, without waiting.
    virtual void poll(steady_time now, http_sink sink) = 0;
    /// Returns the time at which to call `poll` even if nothing arrives.
    [[nodiscard]] virtual steady_time wakes_at() const noexcept = 0;
};

/// A client that has many requests in flight from one thread.
template <class T>
concept opens_http_channels = http_client<T> && requires(T& client, io_driver& io) {
    { client.open(io) } -> std::same_as<shared<http_channel>>;
};

namespace detail {

/// The channel of a client that has no channel of its own: sends one request after another, in `poll`.
template <http_client Client>
class blocking_http_channel final : public http_channel {
public:
    explicit blocking_http_channel(Client client) : client_(std::move(client)) {}

    void send(http_request const& request, http_call const& how, void* tag) override {
        sent_.push_back({&request, how, tag, {}});
    }
    void cancel(void* tag, error const& why) override {
        if (sent* const found = sent_.find([&](sent const& each) { return each.tag == tag; })) {
            found->cancelled.emplace(why);
        }
    }
    void poll(steady_time, http_sink sink) override {
        sent_.take_each([&](sent& next) {
            sink(next.tag,
                next.cancelled ? result<http_response>{failure{*std::move(next.cancelled)}}
                               : client_.send(*next.request, next.how));
        });
    }
    [[nodiscard]] steady_time wakes_at() const noexcept override {
        return sent_.empty() ? (steady_time::max)() : (steady_time::min)();
    }

private:
    struct sent {
        http_request const* request;
        http_call how;
        void* tag;
        std::optional<error> cancelled;
    };

    Client client_;
    pending_list<sent> sent_;
};

} // namespace detail

/// Returns a channel of a client: the client's own channel, or a channel that sends request by request in `poll`.
template <http_client Client>
[[nodiscard]] shared<http_channel> open_http_channel(Client& client, io_driver& io) {
    if constexpr (opens_http_channels<Client>) {
        return client.open(io);
    } else {
        return shared<http_channel>{new detail::blocking_http_channel<Client>{client}};
    }
}

ENTITABLE_END_NAMESPACE
