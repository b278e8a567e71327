// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The state of an `asio_loop`: the loop, its driver, the timer that runs its turns, and the calls that other threads begin.

#include <entitable/async/asio/detail/asio_driver.hpp>
#include <entitable/async/event_loop.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <memory>
#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// `begin` may be called on any thread; all other functions on the strand.
class asio_state : public std::enable_shared_from_this<asio_state> {
public:
    asio_state(boost::asio::any_io_executor const& on, loop_options options)
        : below_(on),
          on_(boost::asio::make_strand(on)),
          timer_(on_),
          half_turn_(options.turn / 2),
          driver_(on_, [this] { turn_soon(); }),
          loop_(driver_, options_of_loop(options)) {}
    asio_state(asio_state const&) = delete;
    asio_state& operator=(asio_state const&) = delete;
    ~asio_state() {
        ended_ = true;
        for (spawned_frame* list : {taken_, begun_}) {
            while (list != nullptr) { std::exchange(list, list->next_posted)->frame.destroy(); }
        }
    }

    [[nodiscard]] event_loop& loop() noexcept { return loop_; }
    [[nodiscard]] boost::asio::any_io_executor const& on() const noexcept { return on_; }
    /// The executor below the strand. Tables hold this one, because a strand must not outlive its context.
    [[nodiscard]] boost::asio::any_io_executor const& below() const noexcept { return below_; }
    /// Runs a turn as soon as the current code has returned.
    void turn_soon() {
        if (inside_ || ended_) { return; } // the end of a turn looks for work
        if (!std::exchange(turns_, true)) { post_turn(); }
    }
    /// Takes ownership of a coroutine, and starts it soon.
    void begin(spawned_frame& one) {
        bool first = false;
        {
            std::lock_guard const guard{lock_};
            first = begun_ == nullptr;
            (first ? begun_ : last_->next_posted) = &one;
            last_ = &one;
        }
        if (first) { post_turn(); }
    }

private:
    static loop_options options_of_loop(loop_options options) {
        options.letters = false; // a watched pipe would prevent the io_context from ending
        options.turn /= 2;
        return options;
    }
    void post_turn() {
        boost::asio::post(on_, [self = weak_from_this()] {
            if (auto const alive = self.lock()) { alive->turn(); }
        });
    }
    /// Passes calls to the loop, a limited number in one turn: their frames are not in the cache.
    void take_begun() {
        constexpr int at_a_time = 256;
        for (int count = 0;; ++count) {
            if (taken_ == nullptr) { // looks even after the last one: who begins the next call asks for a turn
                std::lock_guard const guard{lock_};
                taken_ = std::exchange(begun_, nullptr);
            }
            if (taken_ == nullptr || count == at_a_time) { return; }
            loop_.take_over(*std::exchange(taken_, taken_->next_posted));
        }
    }
    void turn() {
        struct at_end { // an exception thrown by a task leaves io_context::run, which may be called again
            asio_state& of;
            ~at_end() {
                of.inside_ = false;
                of.wait();
            }
        } const then{*this};
        turns_ = false;
        inside_ = true;
        take_begun();
        driver_.deliver(half_turn_);
        (void)loop_.turn();
    }
    void wait() {
        steady_time const wakes = loop_.wakes_at();
        if (wakes == (steady_time::min)() || driver_.has_ready() || taken_ != nullptr) { return turn_soon(); }
        if (wakes == (steady_time::max)()) {
            wakes_ = wakes;
            timed_ = false;
            timer_.cancel();
        } else if (wakes != wakes_ || !timed_) {
            wakes_ = wakes;
            timed_ = true;
            timer_.expires_at(wakes); // this also ends the previous wait
            timer_.async_wait([self = weak_from_this()](boost::system::error_code const& ended) {
                if (auto const alive = self.lock(); alive && !ended) {
                    alive->timed_ = false;
                    alive->turn_soon();
                }
            });
        }
    }

    boost::asio::any_io_executor below_;
    boost::asio::any_io_executor on_;
    boost::asio::steady_timer timer_;
    std::chrono::nanoseconds
        half_turn_; ///< one half takes responses from descriptors, the other one is a turn of the loop
    std::mutex lock_;
    spawned_frame* begun_{}; ///< calls that the loop does not own yet
    spawned_frame* last_{};
    spawned_frame* taken_{}; ///< calls that the loop takes over in the next turns
    asio_driver driver_;
    event_loop loop_; // destroyed first
    steady_time wakes_{(steady_time::max)()};
    bool turns_{};
    bool inside_{};
    bool timed_{};
    bool ended_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
