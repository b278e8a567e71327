// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The decision after each attempt of a call: retry, look first, or end. Knows no clock, no transport and no answer but errors.

#include <entitable/core/clock.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/decorators/retry_policy.hpp>
#include <entitable/request/call.hpp>
#include <entitable/request/idempotency.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What all calls of a retrying transport share. Thread safety: safe to use from several threads.
class retry_ledger : public counted {
public:
    retry_ledger(retry_policy const& policy, std::uint32_t quota, std::uint64_t seed);

    [[nodiscard]] retry_policy const& policy() const noexcept { return policy_; }
    /// The error of a policy that is not valid.
    [[nodiscard]] result<void> const& usable() const noexcept { return usable_; }
    [[nodiscard]] random_source& random() noexcept { return random_; }

    /// Pays for a retry; false when the budget is spent.
    [[nodiscard]] bool spend() noexcept;
    /// Refunds a tenth of a retry.
    void earn() noexcept {
        // A full purse is only looked at, so that calls that succeed do not contend for it.
        if (purse_.load(memory_order::relaxed) < full_) {
            purse_.fetch_add(1, memory_order::relaxed);
        }
    }
    /// Retries that are left.
    [[nodiscard]] std::int64_t left() const noexcept { return purse_.load(memory_order::relaxed) / cost; }
    /// A name for a write that no other has, in this process or in one that was forked off.
    [[nodiscard]] std::string new_operation_id();

private:
    static constexpr std::int64_t cost = 10;

    retry_policy const policy_;
    result<void> const usable_;
    std::int64_t const full_; ///< 0 when there is no quota
    atomic<std::int64_t> purse_;
    random_source random_;
    atomic<std::uint64_t> own_;   ///< begins the names of this process' writes
    atomic<std::uint64_t> forks_; ///< of the process that this is
};

/// One call from its first attempt to its outcome. A value; one thread at a time.
class retry_course {
public:
    enum class move : std::uint8_t {
        again,   ///< once more, at `wakes_at()`
        compare, ///< read the entity first
        look_up, ///< read the operation row first, which is there
        settle,  ///< void the operation row first
        success, ///< an earlier attempt did it
        fail,    ///< the error as it is now
    };

    /// `lost`: an earlier attempt of the same operation, possibly of another process, may have been applied.
    retry_course(retry_ledger& ledger, request_kind kind, steady_time deadline, bool lost) noexcept
        : ledger_(&ledger), deadline_(deadline), kind_(kind), lost_(lost) {}

    /// After the answer `problem` to the request. Makes the error what the caller is to see, should it be the last. `where` is
    /// told of a transaction that inserts its operation row first.
    [[nodiscard]] move after(error& problem, steady_time now, refused_at where = refused_at::somewhere);
    /// After the answer `problem` to what was read to find out.
    [[nodiscard]] move after_reading(error& problem, steady_time now);
    /// The caller ends the call.
    void abandon(error& problem) const { close(problem, lost_ ? effect::unknown : effect::none); }
    /// What the last error says, now that the effect is known, or not.
    void close(error& problem, effect left) const;
    /// The answer was good.
    void succeeded() noexcept {
        ++attempts_;
        ledger_->earn();
    }

    [[nodiscard]] steady_time wakes_at() const noexcept { return wakes_at_; }
    [[nodiscard]] wait_cause because() const noexcept { return because_; } ///< it wakes no earlier
    [[nodiscard]] std::uint32_t attempts() const noexcept { return attempts_; }
    /// Whether an earlier attempt may have been applied.
    [[nodiscard]] bool lost() const noexcept { return lost_; }

private:
    /// Whether a repetition is due, and when; else says in `problem` why not.
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
#include <entitable/decorators/impl/retry_course.ipp>
#endif
