// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/http/curl_client.hpp>
#include <entitable/http/impl/curl_transfer.ipp>

#include <memory>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A multi handle, its transfers and the connections that they keep. Used by one thread at a time.
class curl_session {
public:
    explicit curl_session(curl_options const& options) : options_(options), multi_(curl_multi_init()) {}
    curl_session(curl_session const&) = delete;
    curl_session& operator=(curl_session const&) = delete;
    ~curl_session() {
        all_.clear();
        curl_multi_cleanup(multi_);
    }

    void send_many(http_feed& feed, std::size_t in_flight, http_call const& call);

private:
    /// Takes what is still under way off the multi handle, also when an exception passes.
    struct tidy {
        curl_session& session;
        explicit tidy(curl_session& of) noexcept : session(of) {}
        tidy(tidy const&) = delete;
        tidy& operator=(tidy const&) = delete;
        ~tidy() {
            for (curl_transfer* const transfer : session.active_) {
                curl_multi_remove_handle(session.multi_, transfer->easy());
                session.idle_.push_back(transfer); // has room: see take_transfer
            }
            session.active_.clear();
        }
    };

    [[nodiscard]] curl_transfer* take_transfer();
    bool start(http_feed& feed, http_call const& call);
    std::size_t collect(http_feed& feed);
    void expire(http_feed& feed, http_call const& call);
    void wait();
    void retire(std::size_t index, http_feed& feed, result<http_response> response);

    curl_options const& options_;
    CURLM* const multi_;
    std::vector<std::unique_ptr<curl_transfer>> all_;
    std::vector<curl_transfer*> idle_;
    std::vector<curl_transfer*> active_;
};

/// Why nothing more is to be sent; success when all is well.
ENTITABLE_DECL result<void> check_http_call(http_call const& call) {
    if (call.cancellation.cancelled()) {
        return failure{error_code::cancelled, "the call was cancelled"};
    }
    if (call.deadline != steady_time::max() && system_clock().steady() >= call.deadline) {
        return failure{error_code::deadline_exceeded, "the deadline of the call has passed"};
    }
    return {};
}

ENTITABLE_DECL curl_transfer* curl_session::take_transfer() {
    if (idle_.empty()) {
        all_.push_back(std::make_unique<curl_transfer>(options_));
        idle_.reserve(all_.size());
        active_.reserve(all_.size());
        idle_.push_back(all_.back().get());
    }
    curl_transfer* const taken = idle_.back();
    idle_.pop_back();
    return taken;
}

/// Starts the next request of the feed, or answers it at once when it cannot be sent. False when the feed has none.
ENTITABLE_DECL bool curl_session::start(http_feed& feed, http_call const& call) {
    std::size_t slot = 0;
    http_request const* const request = feed.next(slot);
    if (request == nullptr) {
        return false;
    }
    if (auto good = check_http_call(call); !good) {
        feed.answer(slot, std::move(good).as_failure());
        return true;
    }
    curl_transfer* const transfer = take_transfer();
    auto begun = multi_ == nullptr || transfer->easy() == nullptr
        ? result<void>{failure{error_code::internal_error, "libcurl cannot be started"}}
        : transfer->begin(*request, call, slot);
    if (begun && curl_multi_add_handle(multi_, transfer->easy()) != CURLM_OK) {
        begun = failure{error_code::internal_error, "libcurl does not take the request"};
    }
    if (!begun) {
        idle_.push_back(transfer);
        feed.answer(slot, std::move(begun).as_failure());
        return true;
    }
    active_.push_back(transfer);
    return true;
}

ENTITABLE_DECL void curl_session::retire(std::size_t index, http_feed& feed, result<http_response> response) {
    curl_transfer* const transfer = active_[index];
    curl_multi_remove_handle(multi_, transfer->easy());
    active_[index] = active_.back();
    active_.pop_back();
    idle_.push_back(transfer);
    feed.answer(transfer->slot, std::move(response));
}

/// Answers what libcurl is through with; how many that were.
ENTITABLE_DECL std::size_t curl_session::collect(http_feed& feed) {
    std::size_t collected = 0;
    int left = 0;
    while (CURLMsg const* const message = curl_multi_info_read(multi_, &left)) {
        CURLcode const code = message->data.result;
        std::size_t index = 0;
        while (index < active_.size() && active_[index]->easy() != message->easy_handle) {
            ++index;
        }
        if (index < active_.size()) {
            retire(index, feed, active_[index]->finish(code));
            ++collected;
        }
    }
    return collected;
}

/// Gives up what has lasted too long, or all when the call is over.
ENTITABLE_DECL void curl_session::expire(http_feed& feed, http_call const& call) {
    auto const over = check_http_call(call);
    steady_time const now = system_clock().steady();
    for (std::size_t index = active_.size(); index-- > 0;) {
        curl_transfer& transfer = *active_[index];
        if (!over) {
            retire(index, feed, transfer.end(over.error().code, over.error().message));
        } else if (transfer.ends <= now) {
            retire(index, feed,
                transfer.end(error_code::transport_failed,
                    text::joined({"no whole response within ", std::to_string(call.request_timeout.count()), " ms"})));
        }
    }
}

ENTITABLE_DECL void curl_session::wait() {
    constexpr std::chrono::milliseconds slice{20}; // a cancellation wakes nobody: it is looked for
    steady_time const now = system_clock().steady();
    steady_time until = now + slice;
    for (curl_transfer const* const transfer : active_) {
        until = transfer->ends < until ? transfer->ends : until;
    }
    auto const rest = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
    curl_multi_poll(multi_, nullptr, 0, rest > 0 ? static_cast<int>(rest) : 0, nullptr);
}

ENTITABLE_DECL void curl_session::send_many(http_feed& feed, std::size_t in_flight, http_call const& call) {
    tidy const at_the_end{*this};
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(in_flight < 4 ? 4 : in_flight));
    for (;;) {
        while (active_.size() < in_flight && start(feed, call)) {}
        if (active_.empty()) {
            return;
        }
        int running = 0;
        curl_multi_perform(multi_, &running);
        if (collect(feed) == 0) {
            wait();
        }
        expire(feed, call);
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
