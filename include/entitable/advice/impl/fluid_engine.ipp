// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/stretches.hpp>

#include <algorithm>
#include <cmath>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Models the service and its clients as rates, second by second.
class fluid_engine {
public:
    explicit fluid_engine(simulation& into)
        : into_(into),
          options_(into.options),
          model_(options_.model),
          seconds_(std::ceil(options_.minutes * 60)),
          map_(into.load, seconds_, model_),
          recorder_(into, seconds_, map_.partitions()),
          max_attempts_(static_cast<std::size_t>(std::clamp<std::int64_t>(options_.retries.max_attempts, 1, 16))),
          queued_(map_.ranges().size()),
          asked_(map_.partitions()),
          waits_(slot_count * max_attempts_ * map_.partitions()),
          slot_full_(slot_count) {
        for (std::size_t attempts = 0; attempts < max_attempts_; ++attempts) {
            for (double const random : {1.0 / 6, 0.5, 5.0 / 6}) { // the jitter is represented by three values
                double const wait =
                    std::chrono::duration<double>(options_.retries.delays.delay(attempts + 1, random)).count();
                away_.push_back(static_cast<std::size_t>(std::clamp(std::round(wait), 1.0, slot_count - 1.0)));
            }
        }
    }

    void run() {
        for (double second = 0; second < seconds_; ++second) { step(second); }
        recorder_.finish();
        into_.splits = map_.splits;
        into_.moves = map_.moves;
        into_.joins = map_.joins;
    }

private:
    static constexpr std::size_t slot_count = 256; ///< maximum delay of a retry, in seconds

    /// Returns the waiting requests of one slot and one number of attempts, by partition.
    [[nodiscard]] double* waiting(std::size_t slot, std::size_t attempts) noexcept {
        return waits_.data() + (slot * max_attempts_ + attempts) * map_.partitions();
    }

    void step(double second) {
        simulated_second now;
        double const rate = into_.load.arrivals.at(second + 0.5);
        std::size_t const count = map_.partitions();
        auto const slot = static_cast<std::size_t>(second) % slot_count;
        double* const fresh = waiting(slot, 0); // no request waits before the first attempt
        double const spread = rate * (1 - map_.appended());
        for (std::size_t partition = 0; partition < count; ++partition) {
            fresh[partition] = spread * map_.shares()[partition];
        }
        if (map_.appended() > 0) { fresh[map_.newest(second)] += rate * map_.appended(); }
        now.offered = rate;
        std::copy_n(fresh, count, asked_.begin());
        bool const repeated = slot_full_[slot] != 0;
        for (std::size_t attempts = 1; repeated && attempts < max_attempts_; ++attempts) {
            double const* const due = waiting(slot, attempts);
            for (std::size_t partition = 0; partition < count; ++partition) { asked_[partition] += due[partition]; }
        }
        for (double const each : asked_) { now.sent += each; }
        double const allowed = now.sent > model_.account_rate ? model_.account_rate / now.sent : 1;
        bool const out = is_out(options_, second);
        for (std::size_t range = 0; range < map_.ranges().size(); ++range) {
            serve(range, second, allowed, out, repeated, now);
        }
        if (repeated) {
            std::fill_n(waiting(slot, 0), max_attempts_ * count, 0.0);
            slot_full_[slot] = 0;
        }
        recorder_.add(second, now, asked_);
        map_.end_second(
            second, asked_, [&](std::size_t range) { queued_[range] = 0; },
            [&](std::size_t range) { queued_.insert(queued_.begin() + static_cast<std::ptrdiff_t>(range) + 1, 0.0); },
            [&](std::size_t range) {
                queued_[range] += queued_[range + 1];
                queued_.erase(queued_.begin() + static_cast<std::ptrdiff_t>(range) + 1);
            });
    }

    void serve(std::size_t index, double second, double allowed, bool out, bool repeated, simulated_second& now) {
        served_range const& range = map_.ranges()[index];
        // The fraction of this second in which the range responds.
        double const up = out ? 0 : std::clamp(second + 1 - range.offline_until, 0.0, 1.0);
        double asked = 0;
        double passed = 0;
        for (std::size_t partition = range.first; partition < range.end; ++partition) {
            asked += asked_[partition];
            double const most = model_.partition_rate * map_.weight(partition) * map_.lift(partition);
            passed += (std::min)(asked_[partition] * allowed, most) * up;
        }
        if (asked <= 0 && queued_[index] <= 0) { return; }
        now.servers += up > 0 ? 1U : 0U;
        double const rate = model_.server_rate * range.lift;
        double const capacity = rate * up;
        double const before = queued_[index];
        double const served = (std::min)(before + passed, capacity);
        double const longest = rate * std::chrono::duration<double>(model_.queue).count();
        queued_[index] = (std::min)(before + passed - served, longest);
        double const refused = asked - passed + (std::max)(0.0, before + passed - served - longest);
        // Below its rate a server is an M/D/1 queue; above that rate, the queue length decides.
        double const use = capacity > 0 ? (std::min)(passed / capacity, 0.999) : 0;
        double const short_wait = use / (2 * rate * (1 - use));
        double const wait = (std::min)((std::max)(short_wait, (before + queued_[index]) / 2 / rate), longest / rate);
        now.served += served;
        now.latency += served * (wait + 1 / rate + std::chrono::duration<double>(model_.round_trip).count());
        now.refused += refused;
        if (refused > 1e-9 && asked > 0) { repeat(range, second, refused / asked, repeated, now); }
    }

    /// Requests with any number of attempts are refused with the same probability.
    void repeat(served_range const& range, double second, double part, bool repeated, simulated_second& now) {
        auto const slot = static_cast<std::size_t>(second) % slot_count;
        for (std::size_t attempts = 0; attempts < (repeated ? max_attempts_ : 1); ++attempts) {
            double const* const from = waiting(slot, attempts);
            if (attempts + 1 >= max_attempts_) {
                for (std::size_t partition = range.first; partition < range.end; ++partition) {
                    now.lost += from[partition] * part;
                }
                continue;
            }
            for (std::size_t jitter = 0; jitter < 3; ++jitter) {
                std::size_t const to = (slot + away_[attempts * 3 + jitter]) % slot_count;
                double* const into = waiting(to, attempts + 1);
                slot_full_[to] = 1;
                for (std::size_t partition = range.first; partition < range.end; ++partition) {
                    into[partition] += from[partition] * part / 3;
                }
            }
        }
    }

    simulation& into_;
    simulation_options const& options_;
    service_model const& model_;
    double seconds_;
    range_map map_;
    stretch_recorder recorder_;
    std::size_t max_attempts_;
    std::vector<double> queued_; ///< queue length at the server of each range
    std::vector<double> asked_;  ///< requests to each partition in this second
    std::vector<double> waits_;  ///< waiting requests, by slot, attempts and partition
    std::vector<char> slot_full_;
    std::vector<std::size_t> away_; ///< seconds from a refusal to the next attempt, by previous attempts and jitter
};

ENTITABLE_DECL void simulate_fluid(simulation& into) { fluid_engine{into}.run(); }

} // namespace detail
ENTITABLE_END_NAMESPACE
