// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/impl/curl_transfer.ipp>
#include <entitable/core/io_driver.hpp>

#include <memory>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A multi handle with its connections, and the state of a blocking request. Used by one thread at a time, and waited for by one driver at
/// a time, which may be changed while no transfer is in flight.
class curl_session final : public io_handler {
public:
    explicit curl_session(curl_options const& options) : multi_(curl_multi_init()), alone_(options) {
        curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &curl_session::on_socket);
        curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
        curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &curl_session::on_timer);
        curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    }
    curl_session(curl_session const&) = delete;
    curl_session& operator=(curl_session const&) = delete;
    ~curl_session() { curl_multi_cleanup(multi_); }

    /// Uses `io` for waits from now on.
    void wait_by(io_driver& io) noexcept { io_ = &io; }
    [[nodiscard]] poll_driver& own_driver() noexcept { return own_; } ///< the driver of blocking requests
    [[nodiscard]] curl_transfer& own_transfer() noexcept { return alone_; }

    /// Starts a prepared transfer.
    [[nodiscard]] result<void> start(curl_transfer& transfer);
    /// Removes a transfer, at its end or before it.
    void stop(curl_transfer& transfer) noexcept;
    /// Does the work that is due; transfers that have ended report it.
    void turn(steady_time now);
    /// Returns the time at which there is work even if nothing arrives.
    [[nodiscard]] steady_time wakes_at() const noexcept { return timer_; }
    void ready(io_descriptor descriptor, io_interest what) noexcept override;

private:
    static int on_socket(CURL*, curl_socket_t socket, int what, void* session, void*) noexcept {
        auto& self = *static_cast<curl_session*>(session);
        io_interest const wanted = what == CURL_POLL_IN ? io_interest::read
            : what == CURL_POLL_OUT                     ? io_interest::write
            : what == CURL_POLL_INOUT                   ? io_interest::both
                                                        : io_interest::none;
#if ENTITABLE_HAS_EXCEPTIONS
        try {
            self.io_->watch(static_cast<io_descriptor>(socket), wanted, &self);
        } catch (...) {
            return -1; // libcurl fails the transfers in flight
        }
#else
        self.io_->watch(static_cast<io_descriptor>(socket), wanted, &self);
#endif
        return 0;
    }
    static int on_timer(CURLM*, long milliseconds, void* session) noexcept {
        auto& self = *static_cast<curl_session*>(session);
        self.timer_ = milliseconds < 0 ? (steady_time::max)()
            : milliseconds == 0        ? (steady_time::min)()
                                       : system_clock().steady() + std::chrono::milliseconds{milliseconds};
        return 0;
    }

    CURLM* const multi_;
    poll_driver own_;
    curl_transfer alone_;
    io_driver* io_{&own_};
    steady_time timer_{(steady_time::max)()};
    long under_way_{};
    long kept_{4}; ///< number of connections
};

ENTITABLE_DECL result<void> curl_session::start(curl_transfer& transfer) {
    if (multi_ == nullptr || transfer.easy() == nullptr) {
        return failure{error_code::internal_error, "cannot initialize libcurl"};
    }
    if (under_way_ >= kept_) {
        kept_ = 2 * under_way_;
        curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kept_);
    }
    if (curl_multi_add_handle(multi_, transfer.easy()) != CURLM_OK) {
        return failure{error_code::internal_error, "libcurl rejected the request"};
    }
    ++under_way_;
    return {};
}

ENTITABLE_DECL void curl_session::stop(curl_transfer& transfer) noexcept {
    curl_multi_remove_handle(multi_, transfer.easy());
    --under_way_;
}

ENTITABLE_DECL void curl_session::ready(io_descriptor descriptor, io_interest what) noexcept {
    int running = 0;
    int const seen = ((static_cast<unsigned>(what) & 1U) != 0 ? CURL_CSELECT_IN : 0) |
        ((static_cast<unsigned>(what) & 2U) != 0 ? CURL_CSELECT_OUT : 0);
    curl_multi_socket_action(multi_, static_cast<curl_socket_t>(descriptor), seen, &running);
}

ENTITABLE_DECL void curl_session::turn(steady_time now) {
    int left = 0;
    while (timer_ <= now) {
        timer_ = (steady_time::max)(); // libcurl sets the next time in its callback
        curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &left);
    }
    while (CURLMsg const* const message = curl_multi_info_read(multi_, &left)) {
        char* of = nullptr;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &of);
        auto* const transfer = reinterpret_cast<curl_transfer*>(of);
        if (!transfer->ended) {
            transfer->ended = message->data.result;
            if (transfer->told != nullptr) { transfer->told->push_back(transfer); }
        }
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
