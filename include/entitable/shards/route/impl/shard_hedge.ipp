// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/shards/route/detail/shard_part.hpp>

#include <deque>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// One page, requested once or twice.
class page_race {
public:
    page_race(shard_page_request& page, call& context, channel& to, steady_time now)
        : page_(page), first_(context), second_(context), to_(to), late_at_(now) {}
    page_race(page_race const&) = delete;
    page_race& operator=(page_race const&) = delete;

    void begin(std::chrono::nanoseconds late_after) {
        late_at_ += std::chrono::duration_cast<steady_time::duration>(late_after);
        send(runners_[0], first_);
    }
    /// The time at which the page is requested again, unless a response has arrived.
    [[nodiscard]] steady_time late_at() const noexcept { return answer_ || hedged_ ? (steady_time::max)() : late_at_; }
    void hedge(bool allowed) {
        hedged_ = true;
        if (allowed) { send(runners_[1], second_); }
    }
    [[nodiscard]] bool answered() const noexcept { return answer_.has_value(); }
    [[nodiscard]] bool over() const noexcept { return answer_ && !runners_[0].under_way && !runners_[1].under_way; }
    /// Requires that no request is in flight: hands over the response and its call.
    void end(steady_time now) {
        if (second_won_) { first_ = std::move(second_); }
        page_.answer(*std::move(answer_), now);
    }

    static void complete(completion& done) {
        runner& one = *static_cast<runner*>(done.tag);
        one.race->take(one, done.answer<query_entities>());
    }

private:
    struct runner {
        page_race* race{};
        bool under_way{};
    };

    void send(runner& one, call& context) {
        one.race = this;
        one.under_way = true;
        to_.send(page_.next().request, context, &one);
    }
    void take(runner& one, result<query_entities::response>& answer) {
        runner& other = runners_[&one == &runners_[0] ? 1 : 0];
        one.under_way = false;
        if (answer_ || (!answer && other.under_way)) {
            return; // the response lost the race, or is an error and the other request may succeed
        }
        second_won_ = &one == &runners_[1];
        answer_.emplace(std::move(answer));
        if (other.under_way) {
            to_.cancel(&other, error{error_code::cancelled, "another request for the page finished first"});
        }
    }

    shard_page_request& page_;
    call& first_;
    call second_;
    channel& to_;
    steady_time late_at_;
    runner runners_[2]{};
    std::optional<result<query_entities::response>> answer_;
    bool hedged_{};
    bool second_won_{};
};

ENTITABLE_DECL bool ask_hedged(std::vector<shard_page_request>& requests, std::vector<call>& calls,
    std::vector<channel*> const& places, io_driver& io, sharded_state& state) {
    std::deque<page_race> races;
    std::size_t answered = 0;
    std::size_t over = 0;
    state.save_hedges(requests.size());
    while (over < requests.size()) {
        steady_time const now = io.time().steady();
        while (races.size() < requests.size() &&
            (races.size() - answered < state.options.in_flight || races.size() == answered)) {
            std::size_t const at = races.size();
            races.emplace_back(requests[at], calls[at], *places[requests[at].next().place], now)
                .begin(state.options.hedge->after);
        }
        steady_time wakes = (steady_time::max)();
        for (page_race& each : races) {
            if (each.late_at() <= now) { each.hedge(state.take_hedge()); }
            wakes = (std::min)(wakes, each.late_at());
        }
        bool came = false;
        for (channel* const place : places) {
            place->poll(now, [&](completion& done) {
                page_race::complete(done);
                came = true;
            });
            wakes = (std::min)(wakes, place->wakes_at());
        }
        if (came) {
            answered = over = 0;
            for (page_race const& each : races) {
                answered += each.answered() ? 1U : 0U;
                over += each.over() ? 1U : 0U;
            }
            continue;
        }
        if (wakes == (steady_time::max)() && !io.watches()) {
            error silent{error_code::transport_failed, "the transport did not complete a request"};
            for (shard_page_request& each : requests) { each.abandon(silent); }
            return false;
        }
        io.wait(wakes);
    }
    for (page_race& each : races) { each.end(io.time().steady()); }
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
