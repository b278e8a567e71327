// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The requests of `once`, as a resumable operation: claims the row of a key, marks it as done, or frees it.

#include <entitable/core/backoff.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/operation.hpp>
#include <entitable/core/request/requests.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The row of a key, and how its claims are made.
struct once_row {
    std::string table;
    std::string partition_key;
    std::string row_key;
    std::chrono::milliseconds claim; ///< how long a claim holds
};

/// How often a request is sent again.
struct once_attempts {
    std::uint32_t most; ///< including the first
    entitable::backoff delays;
    random_source& random;
};

/// The claim of a caller, or the result of an earlier caller.
struct once_claim {
    bool mine{};         ///< false if the key is done
    std::string claim;   ///< differs in each call
    std::string id;      ///< the same in all runs for a key
    std::int32_t runs{}; ///< number of claims
    etag version{};      ///< of the claimed row
    date_time done_at{}; ///< by the clock of the store
};

/// One of three tasks:
/// - Claim: inserts the row. If the row exists, it is read; a free row, or a row whose claim has ended, is taken under the ETag that was
///   read. A claim is recognized by its id, so a lost answer costs one more read.
/// - Done: a merge without a condition, because done is final, no matter which caller was faster.
/// - Free: a merge under the ETag of the claim. A refusal means that the caller no longer holds the claim.
///
/// Whether a claim has ended is decided by the clock of the store alone: the Timestamp of the row, and the time in the answer that
/// contained the row. The row, the call, the clock and the random source must outlive the operation.
class once_operation {
public:
    enum class task : std::uint8_t { claim, done, free };

    once_operation(
        task what, once_row const& at, once_claim own, call const& context, clock& time, once_attempts again);

    [[nodiscard]] operation_step next() const noexcept {
        return outcome_               ? operation_step{}
            : phase_ == phase::read   ? operation_step{reading_, not_before_, 0, because_}
            : phase_ == phase::create ? operation_step{creating_, not_before_, 0, because_}
                                      : operation_step{writing_, not_before_, 0, because_};
    }
    void answer(result<get_entity::response> found, steady_time now);
    void answer(result<written> done, steady_time now);
    void answer(result<create_table::response> created, steady_time now);
    void abandon(error const& reason) { outcome_.emplace(failure{reason}); }
    [[nodiscard]] result<once_claim> finish() { return *std::move(outcome_); }

private:
    enum class phase : std::uint8_t { read, insert, merge, create };

    void insert();
    void merge(std::string_view state, etag_condition condition);
    void judge(row_view stored, etag version);
    void end() { outcome_.emplace(std::move(own_)); }
    /// Continues with a phase after a wait, unless the attempts are used up.
    void repeat(phase with, failure beaten, steady_time now);

    task const what_;
    once_row const& at_;
    once_claim own_;
    call const& context_;
    clock& time_;
    once_attempts again_;
    get_entity reading_;
    write_entity writing_;
    create_table creating_;
    phase phase_{phase::insert};
    std::uint32_t beaten_{};
    steady_time not_before_{(steady_time::min)()};
    wait_cause because_{wait_cause::contention};
    std::optional<result<once_claim>> outcome_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/once/impl/once_operation.ipp>
#endif
