// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// An HTTP client that returns answers from a list and stores the requests.

#include <entitable/cloud/http/http_client.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace entitable_test {

/// Copies share one list. Safe to use from several threads.
class canned_client {
public:
    using is_http_client = void;
    using answer = std::function<entitable::result<entitable::http_response>(entitable::http_request const&)>;

    entitable::result<entitable::http_response> send(
        entitable::http_request const& request, entitable::http_call const& call) const {
        answer next;
        {
            std::lock_guard const guard{shared_->lock};
            shared_->asked.push_back(request);
            shared_->calls.push_back(call);
            if (shared_->answers.empty()) {
                return entitable::failure{entitable::error_code::transport_failed, "no answer was prepared"};
            }
            next = shared_->answers.front();
            shared_->answers.pop_front();
        }
        return next(request);
    }

    void then(answer next) const { shared_->answers.push_back(std::move(next)); }
    void then(std::uint16_t status, std::string body = {},
        std::vector<std::pair<std::string, std::string>> fields = {}) const {
        then([=](entitable::http_request const&) -> entitable::result<entitable::http_response> {
            entitable::http_response made;
            made.status = status;
            made.body = body;
            for (auto const& [name, value] : fields) { static_cast<void>(made.headers.add(name, value)); }
            return made;
        });
    }

    [[nodiscard]] std::vector<entitable::http_request> const& asked() const { return shared_->asked; }
    [[nodiscard]] entitable::http_request const& last() const { return shared_->asked.back(); }
    [[nodiscard]] std::vector<entitable::http_call> const& calls() const { return shared_->calls; }

private:
    struct state {
        std::mutex lock;
        std::deque<answer> answers;
        std::vector<entitable::http_request> asked;
        std::vector<entitable::http_call> calls;
    };
    std::shared_ptr<state> shared_{std::make_shared<state>()};
};

} // namespace entitable_test
