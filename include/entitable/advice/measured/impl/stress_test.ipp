// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/measured/stress_test.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/request/batch_packer.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Distributes the calls of one step in the order of their due times. Safe to use from several threads.
class stress_schedule {
public:
    struct due {
        steady_time at;
        std::size_t action;
        std::uint64_t random;
    };
    stress_schedule(std::vector<stress_action> const& actions, stress_options const& options,
        double entities_per_second, std::uint64_t seed)
        : actions_(actions), options_(options), random_(seed), begin_(options.time->steady()) {
        double entities = 0;
        for (stress_action const& each : actions) {
            weights_ += each.weight;
            entities += each.weight * each.entities;
        }
        gap_ = entities / weights_ / entities_per_second;
        seconds_ = std::chrono::duration<double>(options.step).count();
        if (options.poisson) { advance(); }
    }

    /// Sets the next call; returns false at the end of the step. Calls that were due and found no worker are counted as unsent.
    [[nodiscard]] bool next(due& out) {
        std::lock_guard const guard{lock_};
        bool const over =
            options_.time->steady() >= begin_ + std::chrono::duration_cast<steady_time::duration>(options_.step);
        if (over) {
            for (; at_ < seconds_; advance()) { ++unsent_; }
        }
        if (at_ >= seconds_) { return false; }
        double chosen = random_.unit() * weights_;
        out.action = 0;
        while (out.action + 1 < actions_.size() && chosen >= actions_[out.action].weight) {
            chosen -= actions_[out.action++].weight;
        }
        out.random = random_.bits();
        out.at = begin_ + std::chrono::duration_cast<steady_time::duration>(std::chrono::duration<double>(at_));
        advance();
        return true;
    }
    [[nodiscard]] std::uint64_t unsent() const noexcept { return unsent_; }
    [[nodiscard]] steady_time begin() const noexcept { return begin_; }

private:
    void advance() noexcept {
        ++number_;
        at_ = options_.poisson ? at_ - std::log(1 - random_.unit()) * gap_ : static_cast<double>(number_) * gap_;
    }

    std::mutex lock_;
    std::vector<stress_action> const& actions_;
    stress_options const& options_;
    random_source random_;
    steady_time begin_;
    double weights_{};
    double gap_{};           ///< seconds from call to call
    double seconds_{};       ///< duration of the step
    double at_{};            ///< due time of the next call
    std::uint64_t number_{}; ///< number of the next call
    std::uint64_t unsent_{};
};

/// Measurements of one worker.
struct stress_worker {
    std::vector<stress_kind> kinds; ///< one for each action; `served` counts entities
#if ENTITABLE_HAS_EXCEPTIONS
    std::exception_ptr thrown;
#endif

    /// Does the same as `work`, on a separate thread: stores exceptions of calls for the caller.
    void work_and_keep(stress_schedule& schedule, std::vector<stress_action> const& actions, clock& time) {
#if ENTITABLE_HAS_EXCEPTIONS
        try {
            work(schedule, actions, time);
        } catch (...) { thrown = std::current_exception(); }
#else
        work(schedule, actions, time);
#endif
    }

    void work(stress_schedule& schedule, std::vector<stress_action> const& actions, clock& time) {
        for (stress_schedule::due call; schedule.next(call);) {
            time.wait_until(call.at);
            result<void> const done = actions[call.action].call(call.random);
            stress_kind& kind = kinds[call.action];
            kind.latencies.add(std::chrono::duration_cast<std::chrono::nanoseconds>(time.steady() - call.at));
            ++kind.sent;
            if (done) {
                kind.served += actions[call.action].entities;
            } else {
                ++kind.errors[done.error().code];
            }
        }
    }
};

[[nodiscard]] ENTITABLE_DECL stress_step run_step(
    std::vector<stress_action> const& actions, stress_options const& options, double wanted, std::uint64_t seed) {
    stress_schedule schedule{actions, options, wanted, seed};
    std::vector<stress_worker> workers(options.workers);
    for (stress_worker& each : workers) { each.kinds.resize(actions.size()); }
    if (workers.size() == 1) {
        workers[0].work(schedule, actions, *options.time);
    } else {
        std::vector<std::thread> threads;
        for (stress_worker& each : workers) {
            threads.emplace_back([&] { each.work_and_keep(schedule, actions, *options.time); });
        }
        for (std::thread& each : threads) { each.join(); }
#if ENTITABLE_HAS_EXCEPTIONS
        for (stress_worker const& each : workers) {
            if (each.thrown) { std::rethrow_exception(each.thrown); }
        }
#endif
    }
    stress_step made;
    made.wanted = wanted;
    made.unsent = schedule.unsent();
    double entities = 0;
    for (std::size_t action = 0; action < actions.size(); ++action) {
        auto at = std::find_if(made.kinds.begin(), made.kinds.end(),
            [&](stress_kind const& each) { return each.name == actions[action].name; });
        if (at == made.kinds.end()) { // actions of the same name are one kind
            at = made.kinds.insert(at, stress_kind{});
            at->name = actions[action].name;
        }
        for (stress_worker const& worker : workers) {
            stress_kind const& each = worker.kinds[action];
            at->sent += each.sent;
            at->served += each.served;
            at->latencies.merge(each.latencies);
            for (auto const& [code, count] : each.errors) { at->errors[code] += count; }
        }
    }
    for (stress_kind const& each : made.kinds) {
        made.latencies.merge(each.latencies);
        made.sent += each.sent;
        entities += each.served;
        for (auto const& [code, count] : each.errors) { made.errors[code] += count; }
    }
    double const elapsed = std::chrono::duration<double>(options.time->steady() - schedule.begin()).count();
    made.length = std::chrono::duration<double>(options.step).count();
    made.seconds = (std::max)(elapsed, made.length);
    made.served = entities / made.seconds;
    for (stress_kind& each : made.kinds) { each.served /= made.seconds; }
    return made;
}

/// Drops a table at the end of the scope.
class table_guard {
public:
    explicit table_guard(table_core const& table) : table_(table) {}
    table_guard(table_guard const&) = delete;
    table_guard& operator=(table_guard const&) = delete;
    ~table_guard() {
        if (!removed_) { (void)table_.drop_if_present(); }
    }
    [[nodiscard]] result<void> remove() {
        removed_ = true;
        auto gone = table_.drop_if_present();
        return gone ? result<void>{} : std::move(gone).as_failure();
    }

private:
    table_core const& table_;
    bool removed_{};
};

[[nodiscard]] ENTITABLE_DECL result<void> fill_table(table_core const& table, std::vector<row> const& rows) {
    batch_packer packer{table.name(), table.store().profile()};
    for (row const& each : rows) { ENTITABLE_CHECK(packer.add(mutation::insert_or_replace(each))); }
    while (auto const next = packer.take()) { ENTITABLE_CHECK(table.submit(*next)); }
    return {};
}

ENTITABLE_DECL result<stress_outcome> stress_a_table(any_store const& through, std::string const& table,
    std::vector<row> const& rows, std::vector<stress_action> const& actions, stress_options const& options,
    attempt_counter const& attempts) {
    ENTITABLE_CHECK(options.validate());
    if (rows.empty() || actions.empty()) {
        return failure{error_code::invalid_input, "a stress test needs entities and calls"};
    }
    for (row const& each : rows) {
        if (each.partition_key() != rows.front().partition_key()) {
            return failure{error_code::invalid_input, "the entities of a stress test must be in one partition"};
        }
    }
    table_core const tested{through, table, {}};
    ENTITABLE_CHECK(tested.create());
    table_guard guard{tested};
    ENTITABLE_CHECK(fill_table(tested, rows));
    auto outcome = run_stress(actions, options, [&] { return attempts.count(); });
    auto removed = guard.remove();
    if (outcome && !removed) { return std::move(removed).as_failure(); }
    return outcome;
}

} // namespace detail

ENTITABLE_DECL result<void> stress_options::validate() const {
    auto const wrong = [](char const* what) { return failure{error_code::out_of_range_input, std::string{what}}; };
    for (double const each : {peak, target}) {
        if (!(each > 0 && each <= 1e9)) {
            return wrong("the peak and the target of a stress test must be greater than 0");
        }
    }
    if (!(most >= 0 && most <= 1e9)) { return wrong("the last step of a stress test must be a non-negative number"); }
    if (steps < 1 || steps > 1'000 || workers < 1 || workers > 10'000) {
        return wrong("a stress test must have 1 to 1,000 steps and 1 to 10,000 workers");
    }
    if (step < std::chrono::milliseconds{1} || step > std::chrono::hours{24} || latency < std::chrono::nanoseconds{}) {
        return wrong("a step of a stress test must last 1 ms to 1 day, and its latency must not be negative");
    }
    return {};
}

ENTITABLE_DECL result<stress_outcome> run_stress(
    std::vector<stress_action> const& actions, stress_options const& options, function_ref<std::uint64_t()> attempts) {
    ENTITABLE_CHECK(options.validate());
    double weights = 0;
    for (stress_action const& each : actions) {
        if (!(each.weight > 0 && each.entities > 0 && each.weight <= 1e9 && each.entities <= 1e9) || !each.call) {
            return failure{error_code::invalid_input,
                "the call '" + each.name + "' of a stress test needs a weight, entities and a function"};
        }
        weights += each.weight;
    }
    if (weights <= 0) { return failure{error_code::invalid_input, "a stress test needs at least one call"}; }
    stress_outcome made;
    made.peak = options.peak;
    made.target = options.target;
    made.latency = std::chrono::duration<double>(options.latency).count();
    double const most = options.most > 0 ? options.most : 1.25 * (std::max)(options.peak, options.target);
    bool slow = false;
    for (std::uint32_t number = 1; number <= options.steps; ++number) {
        std::uint64_t const before = attempts();
        double const wanted = most * number / options.steps;
        made.steps.push_back(detail::run_step(actions, options, wanted, options.seed + number));
        stress_step& done = made.steps.back();
        done.attempts = attempts() - before;
        if (done.saturated()) { break; }
        made.carried = wanted;
        bool const late = options.latency.count() > 0 && done.latencies.quantile(0.99) > options.latency;
        slow = slow || (late && wanted <= options.peak);
    }
    bool const carries = made.carried >= (std::min)(options.peak, most) && !slow;
    made.verdict = made.carried <= 0                ? stress_verdict::hot_at_once
        : carries && options.peak <= options.target ? stress_verdict::fits
                                                    : stress_verdict::too_coarse;
    return made;
}

ENTITABLE_END_NAMESPACE
