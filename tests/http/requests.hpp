// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Requests and calls for the tests of clients.

#include <entitable/http/http_client.hpp>

#include <support/catch.hpp>

#include <atomic>
#include <chrono>
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

/// A call that ends the test rather than hanging it.
inline entitable::http_call a_call(std::chrono::milliseconds limit = std::chrono::seconds{10}) {
    entitable::http_call call;
    call.deadline = std::chrono::steady_clock::now() + limit;
    return call;
}

/// How long `work` takes.
template <class Work>
std::chrono::milliseconds time_of_work(Work&& work) {
    auto const begun = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
}

/// A list of requests; keeps the answers and how many were under way at once.
class listed_requests final : public entitable::http_feed {
public:
    explicit listed_requests(std::vector<entitable::http_request> requests) : requests_(std::move(requests)) {}

    entitable::http_request const* next(std::size_t& slot) override {
        if (taken_ == requests_.size()) {
            return nullptr;
        }
        slot = taken_;
        ++under_way_;
        most_ = std::max(most_, under_way_);
        return &requests_[taken_++];
    }
    void answer(std::size_t slot, entitable::result<entitable::http_response> response) override {
        --under_way_;
        answers_.emplace(slot, std::move(response));
        if (after_answer) {
            after_answer(answers_.size());
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
    std::size_t taken_{};
    std::size_t under_way_{};
    std::size_t most_{};
};

} // namespace entitable_test
