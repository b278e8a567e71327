// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The part of `run_worker` that does not depend on the queue: its threads, the renewals, and how each message ends.
///
/// Each thread that handles messages has a second thread that renews its message and sleeps otherwise. So a renewal that hangs does not delay the
/// renewal of another message.

#include <entitable/core/function_ref.hpp>
#include <entitable/core/random.hpp>
#include <entitable/work/messaging/worker_options.hpp>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A claimed message and the calls that a worker makes for it.
struct claimed_work {
    std::string id;
    std::uint32_t deliveries{};
    bool last_delivery{};
    bool renewable{};                                       ///< whether the message may be renewed while it is handled
    std::chrono::nanoseconds visibility{};                  ///< visibility that a renewal requests
    function_ref<result<void>()> renew;                     ///< renews the message; called on another thread
    function_ref<std::chrono::nanoseconds()> remaining;     ///< remaining time of the claim; called on another thread
    function_ref<result<void>(work_context const&)> handle; ///< handler of the user
    function_ref<bool()>
        settle; ///< whether the handler has completed or released the message; called when no renewal is running
    function_ref<result<void>()> complete;
    function_ref<result<void>(std::string_view, std::chrono::nanoseconds)> fail;
};

/// The state that the threads of one `run_worker` share.
class worker_run {
public:
    worker_run(worker_options const& options, clock& time);

    [[nodiscard]] worker_options const& options() const noexcept { return options_; }
    [[nodiscard]] clock& time() const noexcept { return time_; }
    [[nodiscard]] cancellation_token stop() const { return over_.token(); }
    /// The delay before a failed message is delivered again.
    [[nodiscard]] std::chrono::nanoseconds retry_delay(std::uint32_t deliveries);
    [[nodiscard]] std::chrono::nanoseconds outage_delay(std::uint64_t attempt);
    /// Calls `worker_options::on_error`.
    void report(error const& problem) noexcept;
    /// Ends all threads; run_worker returns this error.
    void end_with(error const& problem);
    /// Ends all threads: run_worker throws the exception that is being handled.
    void end_with_exception() noexcept;
    /// Adds one message to a count of the report.
    void count(std::uint64_t worker_report::* what);
    /// Returns the result of run_worker, or throws its exception.
    [[nodiscard]] result<worker_report> finish();

private:
    worker_options const& options_;
    clock& time_;
    cancellation_source over_;
    random_source random_;
    std::mutex lock_;
    worker_report report_;         ///< guarded by `lock_`
    std::optional<error> problem_; ///< guarded by `lock_`
    std::exception_ptr thrown_;    ///< guarded by `lock_`
    std::mutex reporting_;         ///< serializes calls of `on_error`
};

/// A thread that renews the message that another thread handles.
class lease_keeper {
public:
    explicit lease_keeper(worker_run& run);
    lease_keeper(lease_keeper const&) = delete;
    lease_keeper& operator=(lease_keeper const&) = delete;
    ~lease_keeper();

    /// Starts to renew the message. Cancels `lost` once it cannot be renewed.
    void begin(claimed_work const& work, cancellation_source const& lost);
    /// Stops the renewals and waits for a running renewal. True if the message is lost.
    [[nodiscard]] bool end();

private:
    void renew_what_is_held();
    /// Waits until the next renewal is due; false if the work on the message ended first.
    [[nodiscard]] bool wait_until_due(std::unique_lock<std::mutex>& guard);
    void note(result<void> const& renewed, std::chrono::nanoseconds remaining);

    worker_run& run_;
    std::mutex lock_;
    std::condition_variable changed_;
    claimed_work const* work_{}; ///< guarded by `lock_`, like all members below
    std::uint64_t number_{};     ///< number of the message, since the next message may have the same address
    cancellation_source lost_;
    steady_time due_{};
    bool renewing_{};
    bool gave_up_{}; ///< set if no further renewal can succeed
    bool is_lost_{};
    bool over_{};
    std::thread thread_;
};

/// A thread that handles messages.
class worker_thread {
public:
    explicit worker_thread(worker_run& run) : run_(run), keeper_(run) {}

    [[nodiscard]] worker_run& run() const noexcept { return run_; }
    /// Handles a message and ends it.
    void work(claimed_work const& work);

private:
    /// Calls the handler. An exception ends the run, and is returned as an error. `why`: the reason that is stored with the message.
    [[nodiscard]] result<void> handled(claimed_work const& work, work_context const& context, std::string& why);

    worker_run& run_;
    lease_keeper keeper_;
};

/// Claims messages and handles them until the run ends. `turn`: claims a message and calls `worker_thread::work`; false if there was none.
[[nodiscard]] result<worker_report> run_crew(
    worker_options const& options, clock& time, function_ref<result<bool>(worker_thread&)> turn);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/messaging/impl/worker_crew.ipp>
#endif
