// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The part of `run_worker` that does not depend on the queue: its threads, the renewals, and how each message ends.
///
/// Each thread that handles messages has a second one that renews the message it handles, and sleeps otherwise. So a renewal that hangs keeps no
/// other message from being renewed.

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

/// What a worker does with a message that it has claimed.
struct claimed_work {
    std::string id;
    std::uint32_t deliveries{};
    bool last_delivery{};
    bool renewable{};                                       ///< whether it may be renewed while it is handled
    std::chrono::nanoseconds visibility{};                  ///< what a renewal asks for
    function_ref<result<void>()> renew;                     ///< called on another thread
    function_ref<std::chrono::nanoseconds()> remaining;     ///< the same
    function_ref<result<void>(work_context const&)> handle; ///< the user's
    function_ref<bool()>
        settle; ///< called once no renewal is under way: whether the handler has ended the message itself
    function_ref<result<void>()> complete;
    function_ref<result<void>(std::string_view, std::chrono::nanoseconds)> fail;
};

/// What the threads of one `run_worker` share.
class worker_run {
public:
    worker_run(worker_options const& options, clock& time);

    [[nodiscard]] worker_options const& options() const noexcept { return options_; }
    [[nodiscard]] clock& time() const noexcept { return time_; }
    [[nodiscard]] cancellation_token stop() const { return over_.token(); }
    /// How long a message waits that has failed.
    [[nodiscard]] std::chrono::nanoseconds retry_delay(std::uint32_t deliveries);
    [[nodiscard]] std::chrono::nanoseconds outage_delay(std::uint64_t attempt);
    /// Calls `worker_options::on_error`.
    void report(error const& problem) noexcept;
    /// Ends all threads: run_worker returns this error.
    void end_with(error const& problem);
    /// Ends all threads: run_worker throws the exception that is being handled.
    void end_with_exception() noexcept;
    /// One message more.
    void count(std::uint64_t worker_report::* what);
    /// What run_worker returns, or throws.
    [[nodiscard]] result<worker_report> finish();

private:
    worker_options const& options_;
    clock& time_;
    cancellation_source over_;
    random_source random_;
    std::mutex lock_;
    worker_report report_;         ///< guarded
    std::optional<error> problem_; ///< guarded
    std::exception_ptr thrown_;    ///< guarded
    std::mutex reporting_;         ///< one call of `on_error` at a time
};

/// A thread that renews the message which another thread handles.
class lease_keeper {
public:
    explicit lease_keeper(worker_run& run);
    lease_keeper(lease_keeper const&) = delete;
    lease_keeper& operator=(lease_keeper const&) = delete;
    ~lease_keeper();

    /// From now on the message is renewed. `lost` is cancelled once that is not possible.
    void begin(claimed_work const& work, cancellation_source const& lost);
    /// No renewal any more; waits for one that is under way. True if the message is lost.
    [[nodiscard]] bool end();

private:
    void renew_what_is_held();
    /// Waits until the next renewal is due: false if the message has ended before.
    [[nodiscard]] bool wait_until_due(std::unique_lock<std::mutex>& guard);
    void note(result<void> const& renewed, std::chrono::nanoseconds remaining);

    worker_run& run_;
    std::mutex lock_;
    std::condition_variable changed_;
    claimed_work const* work_{}; ///< guarded, as all that follows
    std::uint64_t number_{};     ///< of that message: the next one may have the same address
    cancellation_source lost_;
    steady_time due_{};
    bool renewing_{};
    bool gave_up_{}; ///< no further renewal can succeed
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
    /// Calls the handler. What it throws ends the run, and is an error here. `why`: the reason that is stored with the message.
    [[nodiscard]] result<void> handled(claimed_work const& work, work_context const& context, std::string& why);

    worker_run& run_;
    lease_keeper keeper_;
};

/// Claims messages and handles them until it is over. `turn`: claims one and calls `worker_thread::work`; false if there was none.
[[nodiscard]] result<worker_report> run_crew(
    worker_options const& options, clock& time, function_ref<result<bool>(worker_thread&)> turn);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/messaging/impl/worker_crew.ipp>
#endif
