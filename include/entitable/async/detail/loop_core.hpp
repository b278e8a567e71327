// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `loop_core`: the part of a loop that awaitables use: requests in flight and queued, timers, and the ready queue.

#include <entitable/async/detail/loop_mailbox.hpp>
#include <entitable/async/detail/parked.hpp>
#include <entitable/async/detail/trampoline.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/transport/channel.hpp>

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the time `by` after `now`; `no_deadline` if the sum overflows: `no_timeout` never passes.
[[nodiscard]] inline steady_time time_after(steady_time now, std::chrono::nanoseconds by) noexcept {
    auto const ticks = std::chrono::duration_cast<steady_time::duration>(by);
    return ticks > no_deadline - now ? no_deadline : now + ticks;
}

/// The timers, with the next one on top. Used by one thread.
class loop_timers {
public:
    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    [[nodiscard]] parked& top() const noexcept { return *heap_.front(); }
    [[nodiscard]] steady_time next() const noexcept { return empty() ? (steady_time::max)() : top().wakes; }
    [[nodiscard]] std::vector<parked*> const& all() const noexcept { return heap_; }

    /// Adds a timer, which expires at `wakes`.
    void add(parked& one) {
        heap_.push_back(&one);
        rise(heap_.size() - 1);
    }
    /// Removes a timer; has no effect if it was not added.
    void remove(parked& one) noexcept {
        std::uint32_t const at = std::exchange(one.timer_index, parked::no_timer);
        if (at == parked::no_timer) { return; }
        parked* const last = heap_.back();
        heap_.pop_back();
        if (at < heap_.size()) {
            put(at, last);
            rise(at);
            sink(last->timer_index);
        }
    }

private:
    void put(std::size_t at, parked* one) noexcept {
        heap_[at] = one;
        one->timer_index = static_cast<std::uint32_t>(at);
    }
    void rise(std::size_t at) noexcept {
        parked* const one = heap_[at];
        while (at > 0 && one->wakes < heap_[(at - 1) / 2]->wakes) {
            put(at, heap_[(at - 1) / 2]);
            at = (at - 1) / 2;
        }
        put(at, one);
    }
    void sink(std::size_t at) noexcept {
        parked* const one = heap_[at];
        for (;;) {
            std::size_t child = 2 * at + 1;
            if (child + 1 < heap_.size() && heap_[child + 1]->wakes < heap_[child]->wakes) { ++child; }
            if (child >= heap_.size() || heap_[child]->wakes >= one->wakes) { break; }
            put(at, heap_[child]);
            at = child;
        }
        put(at, one);
    }

    std::vector<parked*> heap_;
};

/// A loop's connection to one transport. Lives as long as the loop.
struct loop_way {
    any_store through;
    bool at_once;           ///< whether the transport is called directly
    shared<channel> opened; ///< null if the transport is called directly, and when the loop ends
    std::size_t under_way{};
};

/// Sends a request through a loop.
class sending : public parked {
public:
    /// Takes the response. Runs in a sink, so it sends but does not resume.
    virtual void take(completion& done) = 0;

    // These members are placed after the index of the timer, to use its padding.
    bool sent{};          ///< set while the request is in flight
    bool ready{};         ///< set while it is in the ready queue
    bool token_watched{}; ///< set while the loop checks its token
    bool call_used{};     ///< set if a request was sent under its call
    loop_way* way{};      ///< the connection it uses
    request_ref request;  ///< request to send, or in flight
    call context;         ///< call of the request

protected:
    explicit sending(call with) : context(std::move(with)) {}
    ~sending() = default;
};

/// Limits the work of one turn of a loop.
class turn_limit {
public:
    turn_limit(clock& time, steady_time ends, std::size_t steps) noexcept
        : time_(time), ends_(ends), left_(steps < 1 ? 1 : steps) {}

    /// Whether a stage of the turn may take one more step, after `taken` steps. Each stage may take a few, so that none starves.
    [[nodiscard]] bool allows(std::size_t taken) noexcept {
        constexpr std::size_t few = 4;
        if (taken < few) { return true; }
        if (left_ == 0) { return false; }
        if (--left_ % few == 0 && time_.steady() >= ends_) { left_ = 0; }
        return left_ != 0;
    }

private:
    clock& time_;
    steady_time ends_;
    std::size_t left_;
};

/// Used by one thread.
class loop_core {
public:
    loop_core(io_driver& io, std::size_t in_flight, bool letters) : io_(io), in_flight_(in_flight < 1 ? 1 : in_flight) {
        if (letters) { mailbox_.emplace(io); }
    }
    loop_core(loop_core const&) = delete;
    loop_core& operator=(loop_core const&) = delete;
    ~loop_core() = default;

    [[nodiscard]] io_driver& io() const noexcept { return io_; }
    [[nodiscard]] clock& time() const noexcept { return io_.time(); }
    [[nodiscard]] std::optional<loop_mailbox>& mailbox() noexcept { return mailbox_; }
    [[nodiscard]] wait_scope& root() noexcept { return root_; }
    /// Returns the scope of operations started now.
    [[nodiscard]] wait_scope& scope() const noexcept { return *scope_; }
    void enter(wait_scope& scope) noexcept { scope_ = &scope; }

    /// The clock for code on its own stack; null before its first use.
    std::unique_ptr<clock> stacks_time;

    // ---- ready queue ----

    /// Queues a waiter to be resumed in a later step of a turn, in its scope.
    void make_ready(parked& one) noexcept {
        bool const first = ready_.alone();
        static_cast<in_queue&>(one).link_before(ready_);
        if (first) { io_.wake(); }
    }
    [[nodiscard]] bool has_ready() const noexcept { return !ready_.alone(); }
    /// Resumes entries of the ready queue.
    void resume_ready(turn_limit& limit) {
        for (std::size_t count = 0; !ready_.alone() && limit.allows(count); ++count) {
            parked& one = parked::of(*ready_.next());
            static_cast<in_queue&>(one).unlink();
            static_cast<in_scope&>(one).unlink();
            scope_ = one.scope != nullptr ? one.scope : &root_;
            trampoline::run(one.waiting);
        }
        scope_ = &root_;
    }
    /// Whether an awaitable that could continue immediately must let other tasks run first: true periodically, so that no task starves.
    [[nodiscard]] bool has_to_yield() noexcept {
        constexpr unsigned many = 256;
        return ++answered_at_once_ % many == 0;
    }

    // ---- requests ----

    /// Returns the connection to a transport, opened once for all its copies.
    [[nodiscard]] loop_way& way_to(any_store const& through) {
        auto const [at, made] = ways_.try_emplace(through.identity(), loop_way{through, through.at_once(), {}, 0});
        if (made && !at->second.at_once) { at->second.opened = open_channel(through, io_); }
        return at->second;
    }
    /// Called at the end, before the frames that requests in flight refer to are destroyed.
    void close_ways() noexcept {
        busy_.clear();
        for (auto& [identity, way] : ways_) { way.opened = {}; }
    }
    /// Sends a request, or queues it until fewer are in flight.
    void send(sending& one) {
        if (under_way_ < in_flight_ && turn_.alone()) {
            begin(one);
        } else {
            static_cast<in_queue&>(one).link_before(turn_);
        }
    }
    /// Ends a request in flight early; its response comes from the next poll of the channel.
    void cancel(sending& one, error const& why) {
        one.way->opened->cancel(&one, why);
        io_.wake();
    }
    /// Waits for the response to a request in flight whose frame is being destroyed.
    void take_back(sending& one) noexcept {
        loop_way& way = *one.way;
        if (way.opened) { cancel(one, error{error_code::cancelled, "the waiting coroutine was destroyed"}); }
        while (way.opened && one.sent) {
            poll(way, time().steady());
            if (one.sent) { io_.wait(way.opened->wakes_at()); }
        }
    }
    /// Takes the responses that have arrived, and sends queued requests. `now` is the time.
    void poll(steady_time now, turn_limit& limit) {
        for (std::size_t index = 0; index < busy_.size();) {
            loop_way* const way = busy_[index];
            poll(*way, now);
            index += index < busy_.size() && busy_[index] == way ? 1 : 0; // otherwise another channel is at its index
        }
        for (std::size_t count = 0; under_way_ < in_flight_ && !turn_.alone() && limit.allows(count); ++count) {
            auto& one = static_cast<sending&>(parked::of(*turn_.next()));
            static_cast<in_queue&>(one).unlink();
            begin(one);
        }
    }

    // ---- time ----

    [[nodiscard]] loop_timers& timers() noexcept { return timers_; }
    void fire_timers(steady_time now, turn_limit& limit) {
        for (std::size_t count = 0; timers_.next() <= now && limit.allows(count); ++count) {
            parked& one = timers_.top();
            timers_.remove(one);
            one.timer_fired();
        }
    }
    /// Adds or removes a waiter with a token: a token does not wake a thread, so tokens are polled.
    void watch_token(bool more) noexcept { watched_tokens_ += more ? std::size_t{1} : ~std::size_t{0}; }
    void look_at_tokens() {
        if (watched_tokens_ == 0) { return; }
        std::vector<parked*> all = timers_.all();
        for (ring_link* each = turn_.next(); each != &turn_; each = each->next()) { all.push_back(&parked::of(*each)); }
        for (parked* const each : all) { each->look_at_token(); }
    }
    /// Returns the time at which there is work even if nothing arrives; a time in the past: immediately.
    [[nodiscard]] steady_time wakes_at() const {
        constexpr auto look = std::chrono::milliseconds{20};
        constexpr auto look_at_letters = std::chrono::milliseconds{5};
        if (!ready_.alone() || (under_way_ < in_flight_ && !turn_.alone())) { return (steady_time::min)(); }
        steady_time wakes = timers_.next();
        auto const sooner = [&](steady_time other) { wakes = other < wakes ? other : wakes; };
        for (loop_way const* const each : busy_) { sooner(each->opened->wakes_at()); }
        if (watched_tokens_ > 0) { sooner(time().steady() + look); }
        if (mailbox_ && !mailbox_->wakes()) { sooner(time().steady() + look_at_letters); }
        return wakes;
    }

private:
    void begin(sending& one) {
        loop_way& way = *one.way;
        if (way.under_way++ == 0) { busy_.push_back(&way); }
        ++under_way_;
        one.sent = true;
        if (one.request.writes()) { (one.scope != nullptr ? *one.scope : root_).note_write(); }
        way.opened->send(one.request, one.context, &one);
        io_.wake();
    }
    void poll(loop_way& way, steady_time now) {
        way.opened->poll(now, [&](completion& done) {
            --way.under_way;
            --under_way_;
            auto& one = *static_cast<sending*>(done.tag);
            one.sent = false;
            one.take(done);
        });
        if (way.under_way == 0) { std::erase(busy_, &way); }
    }

    io_driver& io_;
    std::size_t in_flight_;
    std::size_t under_way_{};
    std::optional<loop_mailbox> mailbox_;
    wait_scope root_{nullptr};
    wait_scope* scope_{&root_};
    in_queue ready_;
    in_queue turn_;
    loop_timers timers_;
    std::size_t watched_tokens_{};
    unsigned answered_at_once_{};
    std::map<void const*, loop_way> ways_; ///< connections by identity, which the connection keeps alive
    std::vector<loop_way*> busy_;          ///< connections with requests in flight
};

} // namespace detail
ENTITABLE_END_NAMESPACE
