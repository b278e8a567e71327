// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/random_seed.hpp>
#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/messaging/detail/queue_core.hpp>
#include <entitable/work/messaging/detail/worker_crew.hpp>

#include <algorithm>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

// ---- what the threads share ----

ENTITABLE_DECL worker_run::worker_run(worker_options const& options, clock& time)
    : options_(options), time_(time), over_(options.stop), random_(random_seed()) {}

ENTITABLE_DECL std::chrono::nanoseconds worker_run::retry_delay(std::uint32_t deliveries) {
    return options_.retry.delay(deliveries, random_.unit());
}
ENTITABLE_DECL std::chrono::nanoseconds worker_run::outage_delay(std::uint64_t attempt) {
    return options_.outage.delay(attempt, random_.unit());
}

ENTITABLE_DECL void worker_run::report(error const& problem) noexcept {
    if (!options_.on_error) { return; }
    std::lock_guard const guard{reporting_};
#if ENTITABLE_HAS_EXCEPTIONS
    try {
        options_.on_error(problem);
    } catch (...) { end_with_exception(); }
#else
    options_.on_error(problem);
#endif
}

ENTITABLE_DECL void worker_run::end_with(error const& problem) {
    {
        std::lock_guard const guard{lock_};
        if (!problem_) { problem_ = problem; }
    }
    over_.cancel();
}

ENTITABLE_DECL void worker_run::end_with_exception() noexcept {
#if ENTITABLE_HAS_EXCEPTIONS
    {
        std::lock_guard const guard{lock_};
        if (!thrown_) { thrown_ = std::current_exception(); }
    }
    over_.cancel();
#endif
}

ENTITABLE_DECL void worker_run::count(std::uint64_t worker_report::* what) {
    std::lock_guard const guard{lock_};
    ++(report_.*what);
}

ENTITABLE_DECL result<worker_report> worker_run::finish() {
    std::lock_guard const guard{lock_};
#if ENTITABLE_HAS_EXCEPTIONS
    if (thrown_) { std::rethrow_exception(thrown_); }
#endif
    return problem_ ? result<worker_report>{failure{*problem_}} : result<worker_report>{report_};
}

// ---- renewals ----

ENTITABLE_DECL lease_keeper::lease_keeper(worker_run& run) : run_(run), thread_([this] { renew_what_is_held(); }) {}

ENTITABLE_DECL lease_keeper::~lease_keeper() {
    {
        std::lock_guard const guard{lock_};
        over_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

/// Time of the next renewal, after `in`.
ENTITABLE_DECL steady_time renewal_due(clock& time, std::chrono::nanoseconds in) {
    auto const wait = (std::max)(in, std::chrono::nanoseconds{std::chrono::milliseconds{50}});
    return time.steady() + std::chrono::duration_cast<steady_time::duration>(wait);
}
[[nodiscard]] ENTITABLE_DECL std::chrono::nanoseconds part_of(std::chrono::nanoseconds whole, double part) {
    return std::chrono::nanoseconds{static_cast<std::int64_t>(static_cast<double>(whole.count()) * part)};
}

ENTITABLE_DECL void lease_keeper::begin(claimed_work const& work, cancellation_source const& lost) {
    if (!work.renewable) { return; }
    std::lock_guard const guard{lock_};
    ++number_;
    lost_ = lost;
    gave_up_ = false;
    is_lost_ = false;
    due_ = renewal_due(run_.time(), part_of(work.remaining(), run_.options().renew_after));
    work_ = &work;
    changed_.notify_all();
}

ENTITABLE_DECL bool lease_keeper::end() {
    std::unique_lock guard{lock_};
    if (work_ == nullptr) { return false; }
    work_ = nullptr;
    changed_.notify_all();
    changed_.wait(guard, [this] { return !renewing_; });
    return is_lost_;
}

ENTITABLE_DECL bool lease_keeper::wait_until_due(std::unique_lock<std::mutex>& guard) {
    steady_time const due = due_;
    auto const ended = [this, number = number_] { return over_ || work_ == nullptr || number_ != number; };
    if (&run_.time() == &system_clock()) {
        changed_.wait_until(guard, due, ended);
        return !ended();
    }
    while (!ended() && run_.time().steady() < due) { // a test clock does not end the wait
        changed_.wait_for(guard, std::chrono::milliseconds{1}, ended);
    }
    return !ended();
}

ENTITABLE_DECL void lease_keeper::renew_what_is_held() {
    std::unique_lock guard{lock_};
    for (;;) {
        changed_.wait(guard, [this] { return over_ || (work_ != nullptr && !gave_up_); });
        if (over_) { return; }
        if (!wait_until_due(guard)) { continue; }
        claimed_work const& work = *work_; // `end` waits until the renewal has finished
        renewing_ = true;
        guard.unlock();
        auto const renewed = work.renew();
        auto const remaining = work.remaining();
        if (!renewed && renewed.error().code != error_code::receipt_lost &&
            renewed.error().code != error_code::update_condition_not_satisfied) {
            run_.report(renewed.error());
        }
        guard.lock();
        note(renewed, remaining);
        renewing_ = false;
        changed_.notify_all();
    }
}

ENTITABLE_DECL void lease_keeper::note(result<void> const& renewed, std::chrono::nanoseconds remaining) {
    if (renewed) {
        due_ = renewal_due(run_.time(), part_of(remaining, run_.options().renew_after));
        return;
    }
    error_code const code = renewed.error().code;
    is_lost_ = code == error_code::receipt_lost;
    gave_up_ = is_lost_ || code == error_code::invalid_input;
    // Otherwise the handler has just written under its receipt, or the store does not respond.
    due_ = renewal_due(run_.time(), (std::min)(remaining / 4, std::chrono::nanoseconds{std::chrono::seconds{2}}));
    if (gave_up_ || remaining <= std::chrono::nanoseconds{}) { lost_.cancel(); }
}

// ---- a thread that handles messages ----

ENTITABLE_DECL result<void> worker_thread::handled(
    claimed_work const& work, work_context const& context, std::string& why) {
#if ENTITABLE_HAS_EXCEPTIONS
    try {
#endif
        auto done = work.handle(context);
        why = done ? std::string{} : done.error().to_string();
        return done;
#if ENTITABLE_HAS_EXCEPTIONS
    } catch (std::exception const& thrown) {
        run_.end_with_exception();
        why = text::joined({"the handler threw: ", thrown.what()});
    } catch (...) {
        run_.end_with_exception();
        why = "the handler threw";
    }
    return failure{error_code::invalid_input, why};
#endif
}

ENTITABLE_DECL void worker_thread::work(claimed_work const& work) {
    cancellation_source const lost;
    work_context const context{work.id, work.deliveries, work.last_delivery, run_.stop(), lost.token()};
    keeper_.begin(work, lost);
    std::string why;
    result<void> const done = handled(work, context, why);
    bool const is_lost = keeper_.end();
    if (work.settle()) {
        bool const noticed = !done && done.error().code == error_code::receipt_lost;
        run_.count(done ? &worker_report::handled : noticed ? &worker_report::lost : &worker_report::failed);
        return;
    }
    if (is_lost) {
        run_.count(&worker_report::lost);
        return;
    }
    bool const gave_up = !done && done.error().code == error_code::cancelled && run_.stop().cancelled();
    auto const outcome = done ? &worker_report::handled
        : gave_up             ? &worker_report::released
        : work.last_delivery  ? &worker_report::dead
                              : &worker_report::failed;
    bool const at_once = gave_up || work.last_delivery; // the next claim that reads the message makes the dead letter
    auto const ended = done ? work.complete()
                            : work.fail(why, at_once ? std::chrono::nanoseconds{} : run_.retry_delay(work.deliveries));
    if (!ended && ended.error().code != error_code::receipt_lost) { run_.report(ended.error()); }
    run_.count(ended ? outcome : &worker_report::lost);
}

/// Whether a claim may succeed when it is repeated.
[[nodiscard]] ENTITABLE_DECL bool claim_may_succeed(error const& problem) noexcept {
    return problem.effect == effect::unknown || problem.code == error_code::deadline_exceeded ||
        problem.code == error_code::update_condition_not_satisfied || worth_retrying(problem);
}

/// Runs one thread from start to end.
ENTITABLE_DECL void work_until_over(worker_run& run, function_ref<result<bool>(worker_thread&)> turn) {
    worker_thread mine{run};
    cancellation_token const stop = run.stop();
    call waiting;
    waiting.deadline = no_deadline;
    for (std::uint64_t outages = 0; !stop.cancelled();) {
        auto const had = turn(mine);
        if (had) {
            outages = 0;
            if (!*had && run.options().wait != no_timeout) { return; }
            continue;
        }
        if (!claim_may_succeed(had.error())) {
            run.end_with(had.error());
            return;
        }
        run.report(had.error());
        steady_time const next =
            run.time().steady() + std::chrono::duration_cast<steady_time::duration>(run.outage_delay(++outages));
        static_cast<void>(wait_unless_stopped(next, waiting, stop, run.time()));
    }
}

/// Does the same; an exception ends the run.
ENTITABLE_DECL void work_and_keep_exceptions(
    worker_run& run, function_ref<result<bool>(worker_thread&)> turn) noexcept {
#if ENTITABLE_HAS_EXCEPTIONS
    try {
        work_until_over(run, turn);
    } catch (...) { run.end_with_exception(); }
#else
    work_until_over(run, turn);
#endif
}

ENTITABLE_DECL result<void> check_worker_options(worker_options const& options) {
    ENTITABLE_CHECK(options.retry.validate());
    ENTITABLE_CHECK(options.outage.validate());
    if (!(options.renew_after > 0 && options.renew_after < 1)) {
        return failure{error_code::out_of_range_input, "renew_after of a worker must be between 0 and 1"};
    }
    return {};
}

ENTITABLE_DECL result<worker_report> run_crew(
    worker_options const& options, clock& time, function_ref<result<bool>(worker_thread&)> turn) {
    ENTITABLE_CHECK(check_worker_options(options));
    worker_run run{options, time};
    std::vector<std::thread> others;
    auto const add = [&] {
        others.reserve(options.threads);
        for (std::uint32_t index = 1; index < options.threads; ++index) {
            others.emplace_back([&run, turn] { work_and_keep_exceptions(run, turn); });
        }
    };
#if ENTITABLE_HAS_EXCEPTIONS
    try {
        add();
    } catch (...) { run.end_with_exception(); }
#else
    add();
#endif
    work_and_keep_exceptions(run, turn);
    for (std::thread& each : others) { each.join(); }
    return run.finish();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
