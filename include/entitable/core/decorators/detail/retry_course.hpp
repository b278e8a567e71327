// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The decision after each attempt of a call: retry, read first, or end. Does not depend on clocks, transports or
/// successful responses.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/clock.hpp>
#include <entitable/core/decorators/retry_policy.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/shared.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What a retrying layer repeats.
enum class repeats : std::uint8_t {
    all_transient, ///< also writes whose response was lost; their outcome is determined afterwards
    certain, ///< reads, requests that had no effect, and writes with an operation row; only if no other layer repeats the call
};

/// Shared state of all calls of a retrying transport. Thread safety: safe to use from several threads.
class retry_ledger : public counted {
public:
    retry_ledger(
        retry_policy const& policy, std::uint32_t quota, std::uint64_t seed, repeats which = repeats::all_transient);

    /// Whether the requests of this call are repeated by the layer of this ledger.
    [[nodiscard]] bool repeats_for(call const& context) const noexcept {
        if (repeats_ == repeats::all_transient) { return context.retry != retry::off; }
        return context.retry == retry::standard && (context.repeated_by == nullptr || context.repeated_by == this);
    }
    /// Whether a first failure is the outcome of a request of this kind, without a course.
    [[nodiscard]] bool leaves(error const& problem, request_kind kind, call const& context) const noexcept {
        if (!repeats_for(context)) { return true; }
        bool const keeps_row =
            kind == request_kind::batch_with_operation || kind == request_kind::merging_batch_with_operation;
        return repeats_ == repeats::certain && !keeps_row && !worth_retrying(problem);
    }
    /// Whether a failed request may be repeated although its effect is unknown and it has no operation row.
    [[nodiscard]] bool repeats_lost_writes() const noexcept { return repeats_ == repeats::all_transient; }
    [[nodiscard]] retry_policy const& policy() const noexcept { return policy_; }
    /// The error of an invalid policy.
    [[nodiscard]] result<void> const& usable() const noexcept { return usable_; }
    [[nodiscard]] random_source& random() noexcept { return random_; }

    /// Pays for a retry; false if the quota is spent.
    [[nodiscard]] bool spend() noexcept;
    /// Refunds a tenth of a retry.
    void earn() noexcept {
        // Does not write if the quota is full, so that successful calls do not contend for it.
        if (purse_.load(memory_order::relaxed) < full_) { purse_.fetch_add(1, memory_order::relaxed); }
    }
    /// Number of retries left.
    [[nodiscard]] std::int64_t left() const noexcept { return purse_.load(memory_order::relaxed) / cost; }
    /// Returns an id for a write, unique in this process and in its forked children.
    [[nodiscard]] std::string new_operation_id();

private:
    static constexpr std::int64_t cost = 10;

    retry_policy const policy_;
    result<void> const usable_;
    std::int64_t const full_; ///< 0 without a quota
    atomic<std::int64_t> purse_;
    random_source random_;
    repeats const repeats_;
    atomic<std::uint64_t> own_;   ///< source of the ids of this process
    atomic<std::uint64_t> forks_; ///< fork count of this process
};

/// Marks a call as repeated by the layer of a ledger, until the end of a block, unless a layer above repeats it.
class repeated_call_mark {
public:
    repeated_call_mark(retry_ledger const& ledger, call& context) noexcept {
        if (context.repeated_by == nullptr && ledger.repeats_for(context)) {
            context.repeated_by = &ledger;
            context_ = &context;
        }
    }
    ~repeated_call_mark() {
        if (context_ != nullptr) { context_->repeated_by = nullptr; }
    }
    repeated_call_mark(repeated_call_mark const&) = delete;
    repeated_call_mark& operator=(repeated_call_mark const&) = delete;

private:
    call* context_{};
};

/// The course of one call from its first attempt to its outcome. A value, used by one thread at a time.
class retry_course {
public:
    enum class move : std::uint8_t {
        again,   ///< try again, at `wakes_at()`
        compare, ///< read the entity first
        look_up, ///< first read the operation row, which exists
        settle,  ///< void the operation row first
        success, ///< an earlier attempt was applied
        fail,    ///< the current error
    };

    /// `lost`: an earlier attempt of the same operation, possibly by another process, may have been applied.
    retry_course(retry_ledger& ledger, request_kind kind, steady_time deadline, bool lost) noexcept
        : ledger_(&ledger), deadline_(deadline), kind_(kind), lost_(lost) {}

    /// Decides after the request failed with `problem`. Completes the error for the caller in case it is the final
    /// error. `where` is set for a transaction that inserts its operation row first.
    [[nodiscard]] move after(error& problem, steady_time now, refused_at where = refused_at::somewhere);
    /// Decides after a read that determines the outcome failed with `problem`.
    [[nodiscard]] move after_reading(error& problem, steady_time now);
    /// Ends the call because the caller abandons it; the effect is unknown if a response was lost.
    void abandon(error& problem) const { close(problem, lost_ ? effect::unknown : effect::none); }
    /// Completes the final error and sets its effect.
    void close(error& problem, effect left) const;
    /// Records a success.
    void succeeded() noexcept {
        ++attempts_;
        ledger_->earn();
    }

    [[nodiscard]] steady_time wakes_at() const noexcept { return wakes_at_; }
    [[nodiscard]] wait_cause because() const noexcept { return because_; } ///< cause of the wait until `wakes_at()`
    [[nodiscard]] std::uint32_t attempts() const noexcept { return attempts_; }
    /// Whether an earlier attempt may have been applied.
    [[nodiscard]] bool lost() const noexcept { return lost_; }

private:
    /// Whether a retry is due, and when; otherwise states the reason in `problem`.
    [[nodiscard]] bool goes_on(error& problem, steady_time now);

    retry_ledger* ledger_;
    steady_time deadline_;
    steady_time wakes_at_{(steady_time::min)()};
    std::uint32_t attempts_{};
    request_kind kind_;
    wait_cause because_{wait_cause::back_off};
    bool lost_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/decorators/impl/retry_course.ipp>
#endif

#endif
