// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/stretches.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Random numbers of a simulation: one thread, no atomics.
class simulation_random {
public:
    explicit simulation_random(std::uint64_t seed) noexcept : state_(seed) {}
    [[nodiscard]] std::uint64_t bits() noexcept {
        state_ += 0x9E3779B97F4A7C15U;
        return mixed(state_);
    }
    /// Returns a number from 0 to less than 1.
    [[nodiscard]] double unit() noexcept { return static_cast<double>(bits() >> 11U) * 0x1p-53; }

private:
    std::uint64_t state_;
};

/// Draws from shares in one step (A. J. Walker, "An efficient method for generating discrete random variables", 1977).
class alias_table {
public:
    explicit alias_table(std::vector<double> const& shares) : keep_(shares.size()), other_(shares.size()) {
        double const all = std::accumulate(shares.begin(), shares.end(), 0.0);
        std::vector<std::size_t> light;
        std::vector<std::size_t> heavy;
        for (std::size_t index = 0; index < shares.size(); ++index) {
            keep_[index] = all > 0 ? shares[index] / all * static_cast<double>(shares.size()) : 1;
            (keep_[index] < 1 ? light : heavy).push_back(index);
        }
        while (!light.empty() && !heavy.empty()) {
            std::size_t const low = light.back();
            std::size_t const high = heavy.back();
            light.pop_back();
            other_[low] = high;
            keep_[high] -= 1 - keep_[low];
            if (keep_[high] < 1) {
                heavy.pop_back();
                light.push_back(high);
            }
        }
        for (auto const* rest : {&light, &heavy}) { // these are left over because of rounding
            for (std::size_t const index : *rest) { keep_[index] = 1; }
        }
    }
    [[nodiscard]] std::size_t draw(simulation_random& random) const noexcept {
        double const scaled = random.unit() * static_cast<double>(keep_.size());
        auto const index = static_cast<std::size_t>(scaled);
        return scaled - static_cast<double>(index) < keep_[index] ? index : other_[index];
    }

private:
    std::vector<double> keep_;
    std::vector<std::size_t> other_;
};

/// A retry, or another event of a request in the future.
struct repetition {
    enum class kind : std::uint8_t { attempt, turn, answer, outage };
    double at;              ///< second
    double first_sent;      ///< second
    std::uint32_t attempts; ///< attempts made so far
    std::uint32_t partition;
    std::uint32_t program{};
    kind what{
        kind::attempt}; ///< an attempt begins; the limiter's turn; a response of the store, or a sign of an outage
    friend bool operator<(repetition const& left, repetition const& right) noexcept { return left.at > right.at; }
};

/// Models the service and its clients, request by request.
class request_engine {
public:
    explicit request_engine(simulation& into)
        : into_(into),
          options_(into.options),
          model_(options_.model),
          seconds_(std::ceil(options_.minutes * 60)),
          map_(into.load, seconds_, model_),
          recorder_(into, seconds_, map_.partitions()),
          random_(options_.seed),
          choice_(map_.shares()),
          free_at_(map_.ranges().size()),
          asked_(map_.partitions()),
          service_time_(1 / model_.server_rate),
          queue_(std::chrono::duration<double>(model_.queue).count()),
          round_trip_(std::chrono::duration<double>(model_.round_trip).count()) {
        for (std::uint32_t program = 0; program < options_.programs; ++program) {
            if (options_.limit) { limits_.push_back(open_rate_gate(*options_.limit)); }
            if (options_.circuit) { circuits_.push_back(open_circuit_gate(*options_.circuit)); }
        }
        down_.http_status = 503;
    }

    void run() {
        double const end = seconds_;
        for (second_ = 0; second_ < end; ++second_) {
            out_ = is_out(options_, second_);
            double const rate = into_.load.arrivals.at(second_ + 0.5);
            double next = second_ + gap(rate);
            for (;;) {
                bool const again = !repetitions_.empty() && repetitions_.front().at < next;
                double const at = again ? repetitions_.front().at : next;
                if (!(at < second_ + 1)) { break; }
                if (again) {
                    std::pop_heap(repetitions_.begin(), repetitions_.end());
                    repetition const due = repetitions_.back();
                    repetitions_.pop_back();
                    happen(due);
                } else {
                    ++now_.offered;
                    std::uint32_t const partition = choose();
                    enter({at, at, 0, partition, next_program_});
                    next_program_ = (next_program_ + 1) % options_.programs;
                    next += gap(rate);
                }
            }
            end_second();
        }
        recorder_.finish();
        into_.splits = map_.splits;
        into_.moves = map_.moves;
        into_.joins = map_.joins;
    }

private:
    /// Returns the time to the next arrival of a Poisson process.
    [[nodiscard]] double gap(double rate) noexcept {
        return rate > 0 ? -std::log(1 - random_.unit()) / rate : 2; // there is no arrival in this second
    }
    [[nodiscard]] std::uint32_t choose() noexcept {
        bool const newest = map_.appended() > 0 && (map_.appended() >= 1 || random_.unit() < map_.appended());
        return static_cast<std::uint32_t>(newest ? map_.newest(second_) : choice_.draw(random_));
    }
    void count_repeat(double at) noexcept {
        double const tenth = std::floor(at * 10);
        retries_ = tenth == tenth_ ? retries_ + 1 : 1;
        tenth_ = tenth;
        into_.most_retries = (std::max)(into_.most_retries, retries_);
    }
    void happen(repetition const& due) {
        switch (due.what) {
            case repetition::kind::attempt:
                count_repeat(due.at);
                enter(due);
                break;
            case repetition::kind::turn: send(due); break;
            case repetition::kind::answer: circuits_[due.program]->leave(nullptr, steady_of(due.at)); break;
            case repetition::kind::outage: circuits_[due.program]->leave(&down_, steady_of(due.at)); break;
        }
    }
    [[nodiscard]] static steady_time steady_of(double at) noexcept {
        return steady_time{} + std::chrono::duration_cast<steady_time::duration>(std::chrono::duration<double>(at));
    }
    /// The limiter admits an attempt, now or later.
    void enter(repetition const& made) {
        if (limits_.empty()) { return send(made); }
        steady_time const now = steady_of(made.at);
        auto const turn = limits_[made.program]->enter(now, no_deadline);
        if (!turn) { return refuse_unsent(made, turn.error()); }
        if (*turn <= now) { return send(made); }
        repetition later = made;
        later.what = repetition::kind::turn;
        later.at = std::chrono::duration<double>(*turn - steady_time{}).count();
        schedule(later);
    }
    /// The circuit breaker admits an attempt, or refuses it.
    void send(repetition const& made) {
        if (!circuits_.empty()) {
            auto const admitted = circuits_[made.program]->enter(steady_of(made.at), no_deadline);
            if (!admitted) { return refuse_unsent(made, admitted.error()); }
        }
        arrive(made.at, made.first_sent, made.attempts, made.partition, made.program);
    }
    void refuse_unsent(repetition const& made, error const& why) {
        ++now_.unsent;
        std::chrono::nanoseconds const asked = why.retry_after.value_or(std::chrono::milliseconds{});
        std::chrono::nanoseconds const least = (std::min)(asked, options_.retries.longest_wish);
        repeat_or_give_up(made, made.at, std::chrono::duration<double>(least).count());
    }
    void schedule(repetition const& event) {
        repetitions_.push_back(event);
        std::push_heap(repetitions_.begin(), repetitions_.end());
    }
    /// The policy waits from `from` on, at least `least` seconds.
    void repeat_or_give_up(repetition const& made, double from, double least) {
        std::uint32_t const attempts = made.attempts + 1;
        if (attempts >= options_.retries.max_attempts) {
            ++now_.lost;
            return;
        }
        double const wait =
            std::chrono::duration<double>(options_.retries.delays.delay(attempts, random_.unit())).count();
        schedule({from + (std::max)(wait, least), made.first_sent, attempts, made.partition, made.program});
    }
    void arrive(double at, double first_sent, std::uint32_t attempts, std::uint32_t partition, std::uint32_t program) {
        ++now_.sent;
        asked_[partition] += 1;
        std::size_t const range = map_.range_of(partition);
        double const begins = (std::max)(at, free_at_[range]);
        bool const refused = out_ || map_.ranges()[range].offline_until > at || begins - at > queue_ ||
            asked_[partition] > model_.partition_rate * map_.weight(partition) * map_.lift(partition) ||
            now_.sent > model_.account_rate;
        if (!refused) {
            free_at_[range] = begins + service_time_ / map_.ranges()[range].lift;
            double const latency = free_at_[range] + round_trip_ - first_sent;
            ++now_.served;
            now_.latency += latency;
            into_.latencies.add(std::chrono::nanoseconds{static_cast<std::int64_t>(latency * 1e9)});
            answered(free_at_[range] + round_trip_, program, repetition::kind::answer);
            return;
        }
        ++now_.refused;
        // A throttled partition is a response. A store in an outage, and a range that is moved, do not respond.
        bool const down = out_ || map_.ranges()[range].offline_until > at;
        answered(at + round_trip_, program, down ? repetition::kind::outage : repetition::kind::answer);
        repeat_or_give_up({at, first_sent, attempts, partition, program}, at + round_trip_, 0);
    }
    void answered(double at, std::uint32_t program, repetition::kind what) {
        if (!circuits_.empty()) { schedule({at, at, 0, 0, program, what}); }
    }
    void end_second() {
        for (served_range const& each : map_.ranges()) {
            double asked = 0;
            for (std::size_t partition = each.first; partition < each.end; ++partition) { asked += asked_[partition]; }
            now_.servers += asked > 0 && each.offline_until <= second_ ? 1U : 0U;
        }
        recorder_.add(second_, now_, asked_);
        double const next = second_ + 1;
        map_.end_second(
            second_, asked_, [&](std::size_t range) { free_at_[range] = next; },
            [&](std::size_t range) {
                free_at_.insert(free_at_.begin() + static_cast<std::ptrdiff_t>(range) + 1, next);
            },
            [&](std::size_t range) {
                free_at_[range] = (std::max)(free_at_[range], free_at_[range + 1]);
                free_at_.erase(free_at_.begin() + static_cast<std::ptrdiff_t>(range) + 1);
            });
        now_ = {};
        std::fill(asked_.begin(), asked_.end(), 0.0);
    }

    simulation& into_;
    simulation_options const& options_;
    service_model const& model_;
    double seconds_;
    range_map map_;
    stretch_recorder recorder_;
    simulation_random random_;
    alias_table choice_;
    std::vector<double> free_at_; ///< time at which the server of each range is free
    std::vector<double> asked_;   ///< requests to each partition in this second
    std::vector<repetition> repetitions_;
    simulated_second now_;
    double service_time_;
    double queue_;
    double round_trip_;
    double second_{};
    bool out_{};
    std::vector<shared<request_gate>> limits_;   ///< one for each program; empty without a limiter
    std::vector<shared<request_gate>> circuits_; ///< one for each program; empty without a circuit breaker
    std::uint32_t next_program_{};
    error down_{error_code::transport_failed, {}};
    double tenth_{-1};
    double retries_{};
};

ENTITABLE_DECL void simulate_requests(simulation& into) { request_engine{into}.run(); }

} // namespace detail
ENTITABLE_END_NAMESPACE
