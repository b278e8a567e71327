// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Programs on stacks of their own, one at a time, in virtual time; and the network between them and the stores: each request is delivered at a
/// drawn time, may be lost, may lose its answer, may come late, and its sender may end at it.

#include <entitable/core/detail/side_stack.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

namespace operator_worlds {

using namespace entitable;
using namespace std::chrono_literals;

/// What is drawn from a seed.
class draws {
public:
    explicit draws(std::uint64_t seed) : source_(seed) {}
    std::uint64_t bits() { return source_.bits(); }
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(source_.bits() % count); }
    bool one_in(std::size_t count) { return below(count) == 0; }
    /// From zero to less than this.
    std::chrono::nanoseconds upto(std::chrono::nanoseconds most) {
        return std::chrono::nanoseconds{
            static_cast<std::int64_t>(source_.bits() % static_cast<std::uint64_t>(most.count()))};
    }
    template <class Item>
    Item const& any_of(std::vector<Item> const& items) {
        return items[below(items.size())];
    }

private:
    random_source source_;
};

/// Runs stacks and what is due, in the order of virtual time.
class stage {
public:
    testing::manual_clock clock{};
    std::uint64_t order{}; ///< of all that happens: no two have the same

    /// The same in each run: some of what is drawn is drawn from it.
    [[nodiscard]] steady_time now() { return steady_time{1000h} + (clock.steady() - first_); }
    void at(steady_time when, std::function<void()> what) { due_.push({when, ++order, std::move(what)}); }
    void run(std::function<void()> body) {
        stacks_.push_back(std::make_unique<running>(pool_, std::move(body)));
        running* const made = stacks_.back().get();
        ++alive_;
        at(now(), [this, made] { enter(*made); });
    }
    /// Called on a stack.
    void sleep_until(steady_time when) {
        running* const own = on_;
        at(when, [this, own] { enter(*own); });
        own->stack.leave();
    }
    [[nodiscard]] std::size_t alive() const noexcept { return alive_; }
    /// Until nothing is due any more, or it is that late.
    void run_until(steady_time last) {
        while (!due_.empty() && due_.top().at <= last) {
            auto const next = due_.top();
            due_.pop();
            clock.wait_until(first_ + (next.at - steady_time{1000h}));
            next.what();
        }
    }

private:
    struct running {
        running(entitable::detail::stack_pool& pool, std::function<void()> what)
            : body(std::move(what)),
              stack(pool, std::size_t{1} << 20U, [](void* of) { static_cast<running*>(of)->body(); }, this) {}
        std::function<void()> body;
        entitable::detail::side_stack stack;
        bool allocated = false;
    };
    struct event {
        steady_time at;
        std::uint64_t order{};
        std::function<void()> what;
        bool operator<(event const& other) const {
            return at != other.at ? at > other.at : order > other.order; // the queue gives the greatest
        }
    };
    void enter(running& which) {
        running* const before = std::exchange(on_, &which);
        if (!std::exchange(which.allocated, true) && !which.stack.allocate()) { std::abort(); }
        if (!which.stack.enter()) { --alive_; }
        on_ = before;
    }

    steady_time first_{clock.steady()};
    std::priority_queue<event> due_;
    entitable::detail::stack_pool pool_;
    std::vector<std::unique_ptr<running>> stacks_;
    running* on_{};
    std::size_t alive_{};
};

/// A store, or the catalogue, or an archive.
struct place {
    std::string name;
    memory_backend below;
    bool away{};
    std::uint64_t emptied{}; ///< how often
    /// Goes up when a part of a table is lost, and when it is made again. It is made under the same name, so what was on its way to it would be
    /// applied: also what was refused since, for what says so is lost.
    std::uint64_t repaired{};
    std::function<void()> written{}; ///< called behind each change that was applied
};

/// What happens on the way.
struct weather {
    bool faults{true};
    std::size_t lost_one_in{70};
    std::size_t late_one_in{150};
    std::size_t stopped_one_in{250}; ///< a sender, for some seconds
    std::uint64_t requests{};
};

/// A process: it has a clock of its own, and may end at any of its requests.
class process final : public clock {
public:
    process(stage& on, weather& in, draws& from, std::size_t dies_after = 0)
        : on_(on),
          in_(in),
          draws_(from),
          left_(dies_after),
          begun_(on.now()),
          rate_(static_cast<double>(from.below(21)) / 1000 - 0.01) {}

    [[nodiscard]] bool dead() const noexcept { return dead_; }
    void kill() noexcept { dead_ = true; }

    date_time now() noexcept override { return on_.clock.now(); }
    steady_time steady() noexcept override {
        auto const gone = on_.now() - begun_;
        return begun_ + gone +
            std::chrono::duration_cast<steady_time::duration>(std::chrono::duration<double, std::nano>{
                rate_ * static_cast<double>(std::chrono::nanoseconds{gone}.count())}) +
            ahead_;
    }
    void wait_until(steady_time time) noexcept override {
        steady_time const now = steady();
        if (time <= now) { return; }
        if (dead_) {
            ahead_ += time - now;
            return;
        }
        auto const length = std::chrono::nanoseconds{time - now};
        on_.sleep_until(on_.now() +
            std::chrono::duration_cast<steady_time::duration>(
                std::chrono::duration<double, std::nano>{static_cast<double>(length.count()) / (1 + rate_) + 1000}));
        ahead_ += dead_ && steady() < time ? time - steady() : steady_time::duration{};
    }
    /// Waits by the world's time.
    void rest(std::chrono::nanoseconds length) {
        if (!dead_) { on_.sleep_until(on_.now() + length); }
    }

    template <class Request>
    result<response_of<Request>> send(Request const& request, std::shared_ptr<place> const& to) {
        auto const failed = [](effect what) {
            failure lost{error_code::transport_failed, "no answer came"};
            lost.error().effect = Request::writes ? what : effect::none;
            return lost;
        };
        if (dead_) { return failed(effect::unknown); }
        bool const ends = left_ > 0 && --left_ == 0;
        ++in_.requests;
        rest(delay());
        if (to->away) {
            bool const settled = draws_.one_in(2);
            dead_ = dead_ || ends;
            return failed(settled && !dead_ ? effect::none : effect::unknown);
        }
        bool const faults = in_.faults && !dead_;
        if (faults && draws_.one_in(in_.late_one_in)) {
            on_.at(on_.now() + draws_.upto(10s), [request, to, repaired = to->repaired] {
                if (!to->away && to->repaired == repaired) { static_cast<void>(apply(request, *to)); }
            });
            dead_ = dead_ || ends;
            return failed(effect::unknown);
        }
        if ((faults && draws_.one_in(in_.lost_one_in)) || (ends && draws_.one_in(2))) {
            dead_ = dead_ || ends;
            return failed(effect::unknown);
        }
        auto answer = apply(request, *to);
        if ((faults && draws_.one_in(in_.lost_one_in)) || ends) {
            dead_ = dead_ || ends;
            return failed(effect::unknown);
        }
        rest(delay());
        return dead_ ? result<response_of<Request>>{failed(effect::unknown)} : std::move(answer);
    }

private:
    template <class Request>
    static result<response_of<Request>> apply(Request const& request, place& to) {
        call own;
        auto answer = to.below.execute(request, own);
        if (Request::writes && answer && to.written) { to.written(); }
        return answer;
    }
    std::chrono::nanoseconds delay() {
        return in_.faults && draws_.one_in(in_.stopped_one_in) ? draws_.upto(4s) : 200us + draws_.upto(6ms);
    }

    stage& on_;
    weather& in_;
    draws& draws_;
    std::size_t left_; ///< requests until it ends; 0 for no end
    steady_time begun_;
    double rate_;
    steady_time::duration ahead_{};
    bool dead_{};
};

/// The way of a process to a store.
struct way {
    using is_transport = void;
    std::shared_ptr<process> by;
    std::shared_ptr<place> to;

    [[nodiscard]] entitable::profile profile() const {
        entitable::profile made = to->below.profile();
        made.longest_delivery = std::chrono::seconds{20};
        made.longest_work = std::chrono::seconds{1};
        return made;
    }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call&) const {
        return by->send(request, to);
    }
};

} // namespace operator_worlds
