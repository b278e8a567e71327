// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Requests and calls for the tests of clients.

#include <entitable/cloud/http/http_channel.hpp>

#include <support/catch.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace entitable_test {

inline entitable::http_request a_request(
    std::string url, entitable::http_method method = entitable::http_method::get, std::string body = {}) {
    entitable::http_request request;
    request.method = method;
    request.url = std::move(url);
    request.body = std::move(body);
    return request;
}

/// A call that ends the test instead of hanging it.
inline entitable::http_call a_call(std::chrono::milliseconds limit = std::chrono::seconds{10}) {
    entitable::http_call call;
    call.deadline = std::chrono::steady_clock::now() + limit;
    return call;
}

/// What a limit of some 100 ms ends in, on a busy machine too. Other limits are 10 s.
inline constexpr std::chrono::milliseconds soon{2'000};

/// The duration of `work`.
template <class Work>
std::chrono::milliseconds time_of_work(Work&& work) {
    auto const begun = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
}

/// A list of requests. Stores the answers and how many were in flight at once.
class listed_requests {
public:
    explicit listed_requests(std::vector<entitable::http_request> requests) : requests_(std::move(requests)) {}

    /// Sends them through a channel of the client, up to `in_flight` at once.
    template <class Client>
    void send(Client client, std::size_t in_flight, entitable::http_call const& call) {
        using namespace entitable;
        poll_driver io;
        shared<http_channel> const opened = open_http_channel(client, io);
        std::size_t taken = 0;
        while (answers_.size() < requests_.size()) {
            for (; taken < requests_.size() && taken - answers_.size() < in_flight; ++taken) {
                opened->send(requests_[taken], call, &requests_[taken]);
                most_ = std::max(most_, taken + 1 - answers_.size());
            }
            std::size_t const before = answers_.size();
            opened->poll(io.time().steady(), [&](void* tag, result<http_response>&& response) {
                auto const slot = static_cast<std::size_t>(static_cast<http_request*>(tag) - requests_.data());
                REQUIRE(answers_.emplace(slot, std::move(response)).second);
                if (after_answer) { after_answer(answers_.size()); }
            });
            if (answers_.size() == before) { io.wait(opened->wakes_at()); }
        }
    }

    [[nodiscard]] std::map<std::size_t, entitable::result<entitable::http_response>> const& answers() const {
        return answers_;
    }
    [[nodiscard]] std::size_t most() const { return most_; }

    std::function<void(std::size_t)> after_answer;

private:
    std::vector<entitable::http_request> requests_;
    std::map<std::size_t, entitable::result<entitable::http_response>> answers_;
    std::size_t most_{};
};

} // namespace entitable_test
