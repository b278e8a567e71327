// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/curl_client.hpp>
#include <entitable/cloud/http/impl/curl_session.ipp>
#include <entitable/core/try.hpp>

#include <deque>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Runs once in the program; libcurl requires it before any other call.
ENTITABLE_DECL void start_curl() {
    static CURLcode const started = curl_global_init(CURL_GLOBAL_DEFAULT);
    static_cast<void>(started); // a failure shows when the first handle is made
}

ENTITABLE_DECL curl_pool::curl_pool(curl_options options) : options_(std::move(options)) { start_curl(); }

ENTITABLE_DECL curl_pool::~curl_pool() {
    for (curl_transfer* const transfer : transfers_) { delete transfer; }
    for (curl_session* const session : idle_) { delete session; }
}

ENTITABLE_DECL curl_session* curl_pool::borrow() {
    {
        std::lock_guard const lock{mutex_};
        if (!idle_.empty()) {
            curl_session* const session = idle_.back();
            idle_.pop_back();
            return session;
        }
        idle_.reserve(max_idle); // returning a session allocates nothing
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

ENTITABLE_DECL curl_transfer* curl_pool::take_transfer() {
    {
        std::lock_guard const lock{mutex_};
        if (!transfers_.empty()) {
            curl_transfer* const transfer = transfers_.back();
            transfers_.pop_back();
            return transfer;
        }
        transfers_.reserve(max_idle_transfers); // returning a transfer allocates nothing
    }
    return new curl_transfer(options_);
}

ENTITABLE_DECL void curl_pool::give_back(curl_transfer* transfer) noexcept {
    {
        std::lock_guard const lock{mutex_};
        if (transfers_.size() < max_idle_transfers) {
            transfers_.push_back(transfer);
            return;
        }
    }
    delete transfer;
}

/// A session that is lent for the duration of a call or the lifetime of a driver.
class curl_lease {
public:
    explicit curl_lease(curl_pool& pool) : pool_(pool), session_(pool.borrow()) {}
    curl_lease(curl_lease const&) = delete;
    curl_lease& operator=(curl_lease const&) = delete;
    ~curl_lease() {
        session_->wait_by(session_->own_driver());
        pool_.give_back(session_);
    }
    curl_session* operator->() const noexcept { return session_; }

private:
    curl_pool& pool_;
    curl_session* const session_;
};

/// The session of all the curl channels in a driver.
class curl_guest final : public io_guest {
public:
    curl_guest(shared<curl_pool> pool, io_driver& io) : pool_(std::move(pool)), session_(*pool_) {
        session_->wait_by(io);
    }

    [[nodiscard]] curl_session& session() const noexcept { return *session_.operator->(); }

private:
    shared<curl_pool> pool_;
    curl_lease session_;
};

class curl_channel final : public http_channel {
public:
    curl_channel(shared<curl_pool> pool, curl_session& session) : pool_(std::move(pool)), session_(session) {}
    ~curl_channel() override {
        for (curl_transfer* const each : under_way_) {
            session_.stop(*each);
            pool_->give_back(each);
        }
        for (curl_transfer* const each : aside_) { pool_->give_back(each); }
    }

    void send(http_request const& request, http_call const& how, void* tag) override {
        if (auto good = check_http_call(how); !good) { return answers_.push_back({tag, std::move(good).as_failure()}); }
        ended_.reserve(under_way_.size() + 1); // reserved, so that recording an ended transfer cannot throw
        under_way_.reserve(under_way_.size() + 1);
        std::unique_ptr<curl_transfer> transfer{pool_->take_transfer()};
        transfer->tag = tag;
        transfer->told = &ended_;
        auto begun = transfer->begin(request, how);
        if (begun && !aside_.empty()) { // behind those that wait for a socket
            aside_.push_back(transfer.get());
            (void)transfer.release();
            return;
        }
        if (begun) { begun = session_.start(*transfer); }
        if (!begun) {
            pool_->give_back(transfer.release());
            return answers_.push_back({tag, std::move(begun).as_failure()});
        }
        transfer->place = under_way_.size();
        under_way_.push_back(transfer.release());
    }
    void cancel(void* tag, error const& why) override {
        for (curl_transfer* const each : under_way_) {
            if (each->tag == tag) { return retire(*each, each->end(why)); }
        }
        for (std::size_t index = 0; index < aside_.size(); ++index) {
            if (aside_[index]->tag == tag) { return drop_aside(index, why); }
        }
    }
    void poll(steady_time now, http_sink sink) override {
        session_.turn(now);
        while (!ended_.empty()) {
            curl_transfer& last = *ended_.back();
            if (last.lacks_socket()) {
                set_aside(last, now);
            } else {
                ended_.pop_back();
                ++freed_;
                retire(last, last.finish(*last.ended));
            }
        }
        if (now >= next_look_) { look(now); }
        if (!aside_.empty()) { try_again(now); }
        answers_.take_each([&](answered& each) { sink(each.tag, std::move(each.response)); });
    }
    [[nodiscard]] steady_time wakes_at() const noexcept override {
        if (!answers_.empty() || !ended_.empty()) { return (steady_time::min)(); }
        if (under_way_.empty() && aside_.empty()) { return (steady_time::max)(); }
        return session_.wakes_at() < next_look_ ? session_.wakes_at() : next_look_;
    }

private:
    struct answered {
        void* tag;
        result<http_response> response;
    };

    void remove(curl_transfer& transfer) noexcept {
        session_.stop(transfer);
        under_way_[transfer.place] = under_way_.back();
        under_way_[transfer.place]->place = transfer.place;
        under_way_.pop_back();
    }
    /// The system has no socket left: the transfer waits, within its time, until others have ended.
    void set_aside(curl_transfer& transfer, steady_time now) {
        aside_.push_back(&transfer); // first: the rest does not throw
        ended_.pop_back();
        remove(transfer);
        next_try_ = now + slice;
    }
    void drop_aside(std::size_t index, error const& why) {
        curl_transfer& transfer = *aside_[index];
        answers_.push_back({transfer.tag, transfer.end(why)});
        aside_.erase(aside_.begin() + static_cast<std::ptrdiff_t>(index));
        pool_->give_back(&transfer);
    }
    /// Starts as many transfers as others have ended, and one from time to time.
    void try_again(steady_time now) {
        if (now >= next_try_) {
            next_try_ = now + slice;
            ++freed_;
        }
        for (; freed_ > 0 && !aside_.empty(); --freed_) {
            ended_.reserve(under_way_.size() + 1);
            under_way_.reserve(under_way_.size() + 1);
            curl_transfer& next = *aside_.front();
            next.begin_again();
            if (auto begun = session_.start(next); !begun) { return drop_aside(0, begun.error()); }
            aside_.pop_front();
            next.place = under_way_.size();
            under_way_.push_back(&next);
        }
        freed_ = 0;
    }
    void retire(curl_transfer& transfer, result<http_response> response) {
        remove(transfer);
        answers_.push_back({transfer.tag, std::move(response)});
        pool_->give_back(&transfer);
    }
    /// Ends transfers that have lasted too long, or were cancelled on another thread, which does not wake this thread.
    void look(steady_time now) {
        next_look_ = now + slice;
        for (std::size_t index = under_way_.size(); index-- > 0;) {
            curl_transfer& each = *under_way_[index];
            if (auto why = each.overdue(now)) {
                retire(each, each.end(*std::move(why)));
            } else if (each.ends < next_look_) {
                next_look_ = each.ends;
            }
        }
        for (std::size_t index = aside_.size(); index-- > 0;) {
            if (auto why = aside_[index]->overdue(now)) {
                why->server_message = "the system has no socket left";
                drop_aside(index, *why);
            } else if (aside_[index]->ends < next_look_) {
                next_look_ = aside_[index]->ends;
            }
        }
    }

    static constexpr std::chrono::milliseconds slice{20};

    shared<curl_pool> pool_;
    curl_session& session_;
    std::vector<curl_transfer*> under_way_;
    std::vector<curl_transfer*> ended_; ///< transfers that libcurl has finished
    std::deque<curl_transfer*> aside_;  ///< transfers that wait because the system has no socket left
    std::size_t freed_{};               ///< transfers that have ended since the last try
    steady_time next_try_{(steady_time::min)()};
    pending_list<answered> answers_;
    steady_time next_look_{(steady_time::min)()};
};

} // namespace detail

ENTITABLE_DECL result<http_response> curl_client::send(http_request const& request, http_call const& call) const {
    if (!pool_) { return detail::moved_from("client"); }
    ENTITABLE_CHECK(detail::check_http_call(call));
    detail::curl_lease const session{*pool_};
    detail::curl_transfer& transfer = session->own_transfer();
    auto begun = transfer.begin(request, call);
    if (begun) { begun = session->start(transfer); }
    if (!begun) { return std::move(begun).as_failure(); }
    struct started {
        detail::curl_session& session;
        detail::curl_transfer& transfer;
        ~started() { session.stop(transfer); } // runs even if an exception is thrown
    } const at_the_end{*session.operator->(), transfer};
    for (;;) {
        steady_time now = system_clock().steady();
        session->turn(now);
        constexpr std::chrono::milliseconds slice{20}; // a cancellation does not wake a wait: it is polled
        if (transfer.ended) {
            if (!transfer.lacks_socket()) { return transfer.finish(*transfer.ended); }
            if (auto why = transfer.overdue(now)) { return transfer.end(*std::move(why)); }
            session->stop(transfer);
            system_clock().wait_until(now + slice); // other threads may free a socket
            transfer.begin_again();
            (void)session->start(transfer); // it was accepted before
            continue;
        }
        if (auto why = transfer.overdue(now)) { return transfer.end(*std::move(why)); }
        steady_time const latest = transfer.ends < now + slice ? transfer.ends : now + slice;
        session->own_driver().wait(session->wakes_at() < latest ? session->wakes_at() : latest);
    }
}

ENTITABLE_DECL shared<http_channel> curl_client::open(io_driver& io) const {
    if (!pool_) { return shared<http_channel>{new detail::blocking_http_channel<curl_client>{*this}}; }
    auto& guest = io.guest<detail::curl_guest>([&] { return new detail::curl_guest{pool_, io}; });
    return shared<http_channel>{new detail::curl_channel{pool_, guest.session()}};
}

ENTITABLE_END_NAMESPACE
