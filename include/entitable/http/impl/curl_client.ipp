// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/http/curl_client.hpp>
#include <entitable/http/impl/curl_session.ipp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Once for the program; libcurl wants it before anything else.
ENTITABLE_DECL void start_curl() {
    static CURLcode const started = curl_global_init(CURL_GLOBAL_DEFAULT);
    static_cast<void>(started); // a failure shows in the first handle
}

ENTITABLE_DECL curl_pool::curl_pool(curl_options options) : options_(std::move(options)) { start_curl(); }

ENTITABLE_DECL curl_pool::~curl_pool() {
    for (curl_session* const session : idle_) {
        delete session;
    }
}

ENTITABLE_DECL curl_session* curl_pool::borrow() {
    {
        std::lock_guard const lock{mutex_};
        if (!idle_.empty()) {
            curl_session* const session = idle_.back();
            idle_.pop_back();
            return session;
        }
        idle_.reserve(max_idle); // giving back allocates nothing
    }
    return new curl_session(options_);
}

ENTITABLE_DECL void curl_pool::give_back(curl_session* session) noexcept {
    {
        std::lock_guard const lock{mutex_};
        if (idle_.size() < max_idle) {
            idle_.push_back(session);
            return;
        }
    }
    delete session;
}

/// A session for the time of a call.
class curl_lease {
public:
    explicit curl_lease(curl_pool& pool) : pool_(pool), session_(pool.borrow()) {}
    curl_lease(curl_lease const&) = delete;
    curl_lease& operator=(curl_lease const&) = delete;
    ~curl_lease() { pool_.give_back(session_); }
    curl_session* operator->() const noexcept { return session_; }

private:
    curl_pool& pool_;
    curl_session* const session_;
};

/// A feed of one request.
class single_feed final : public http_feed {
public:
    explicit single_feed(http_request const& request) noexcept : request_(&request) {}
    http_request const* next(std::size_t& slot) override {
        slot = 0;
        return std::exchange(request_, nullptr);
    }
    void answer(std::size_t, result<http_response> response) override { answer_.emplace(std::move(response)); }
    [[nodiscard]] result<http_response> take() { return *std::move(answer_); }

private:
    http_request const* request_;
    std::optional<result<http_response>> answer_;
};

} // namespace detail

ENTITABLE_DECL result<http_response> curl_client::send(http_request const& request, http_call const& call) const {
    if (!pool_) {
        return detail::moved_from("client");
    }
    detail::single_feed feed{request};
    detail::curl_lease { *pool_ } -> send_many(feed, 1, call);
    return feed.take();
}

ENTITABLE_DECL void curl_client::send_many(http_feed& feed, std::size_t in_flight, http_call const& call) const {
    if (!pool_) {
        std::size_t slot = 0;
        while (feed.next(slot) != nullptr) {
            feed.answer(slot, detail::moved_from("client"));
        }
        return;
    }
    detail::curl_lease { *pool_ } -> send_many(feed, in_flight == 0 ? 1 : in_flight, call);
}

ENTITABLE_END_NAMESPACE
