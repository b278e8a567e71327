// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `once`: runs a function once for each key, whichever programs call it and however often.
///
///     entitable::once const mails{store, "welcome"};
///     auto const sent = mails.run("ann", [&](entitable::once_run const& run) { return post.send(letter, run.id); });

#include <entitable/client/contention.hpp>
#include <entitable/core/backoff.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/core/request/resumable.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/work/messaging/detail/held_time.hpp>

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

using once_operation = resumable<once_claim>;

/// Claims a key: inserts its row. If the row exists, it is read; a free row, or one whose claim has ended, is taken under the ETag that
/// was read. Returns the claim of an earlier call that is done.
///
/// Whether a claim has ended is decided by the clock of the store alone: the Timestamp of the row, and the time in the answer that
/// contained the row. The row, the call, the clock and the random source must outlive the operation.
once_operation claim_once(once_row const& at, once_claim own, call const& context, clock& time, once_attempts again);
/// Marks a key as done, without a condition, because done is final, whoever was faster. The row and the random source must outlive it.
once_operation mark_once(once_row const& at, once_claim own, once_attempts again);
/// Frees a claimed key, unless the claim is no longer the caller's. The row and the random source must outlive it.
once_operation free_once(once_row const& at, once_claim own, once_attempts again);

} // namespace detail

/// Options of `once`. The format of its rows is in docs/stored_formats.md.
struct once_options {
    std::string table{"once"};                                ///< created if it does not exist
    std::chrono::milliseconds claim{std::chrono::minutes{1}}; ///< how long a run holds its key, 2 s to 7 days
    std::uint32_t max_attempts{50};     ///< attempts to claim or to end a claim, including the first; at least 1
    backoff delays{contention_backoff}; ///< delays between attempts
    call_options calls{};               ///< options of each claim, and of each end of a claim
    clock* time{
        &system_clock()}; ///< clock for delays; of claims only if the store returns no time. Must outlive the object
    std::uint64_t seed{}; ///< seed of ids and delays; 0 for a fresh seed
};

/// One run of a function.
struct once_run {
    std::string_view
        id; ///< 32 hexadecimal digits, the same in all runs for a key: an idempotency key for other services
    std::int32_t number; ///< 1 in the first run. In a later run, an earlier run may have had an effect
};

/// Outcome of `once::run`.
struct once_outcome {
    bool ran{};          ///< whether this call ran the function; false if an earlier call completed the key
    std::string id;      ///< as in `once_run`
    std::int32_t runs{}; ///< number of runs for the key, including runs that failed or ended without an outcome
    date_time done_at{}; ///< when an earlier call completed the key, by the clock of the store; 1601 if this call did
};

/// Keys, each with a function that is to run once: mails that are sent, payments that are started, jobs that are queued by a webhook. Each key
/// is a row in a partition of its own, which is claimed before the run and marked as done after it.
///
/// Guarantees:
/// - After `run` has returned success for a key, no call that begins later runs the function for this key.
/// - Two runs for one key overlap only if the first takes longer than `once_options::claim`.
/// - A function runs again for a key if a run ended without an outcome (its program ended, it threw, its error has effect unknown) or if the
///   outcome could not be stored. All runs have the same `once_run::id`: a service that accepts it as an idempotency key applies it once.
///
/// The end of a claim is decided by the clock of the store, so the clocks of programs may differ.
///
/// Thread safety: safe to use from several threads. A cheap handle: copies share everything. After a move it returns InvalidInput.
class once {
public:
    /// `name` distinguishes functions that share keys: it is the RowKey of each row. Sends nothing.
    once(any_store through, std::string name, once_options options = {});

    /// Runs `function(once_run const&)`, which returns a `result<void>`, unless the key is done. The key is the PartitionKey of its row.
    ///
    /// Errors: StoreBusy, with `error::retry_after`, while another call has claimed the key (effect none); the error of the function: with
    /// effect none the key is free again, otherwise it stays claimed until the claim ends; an error with effect unknown if the function
    /// succeeded and the key could not be marked as done; KeyValueTooLarge or OutOfRangeInput for an invalid key or name; OutOfRangeInput for
    /// invalid options; RowMismatch if the row is not a row of `once`; those of the transport. An exception of the function passes through,
    /// and the key stays claimed until the claim ends.
    ///
    /// ServerBusy is not retried here: wrap the transport in `retrying`, or a mark that was refused leaves the key claimed.
    ///
    /// Cost: two writes; for a key that is done, a refused insert and a read.
    template <class Function>
    [[nodiscard]] result<once_outcome> run(std::string_view key, Function&& function) const {
        static_assert(std::is_invocable_r_v<result<void>, Function&, once_run const&>,
            "the function of once must take a once_run const& and return a result<void>");
        if constexpr (std::is_invocable_r_v<result<void>, Function&, once_run const&>) {
            return run_erased(key, [&](once_run const& each) -> result<void> { return function(each); });
        } else {
            return once_outcome{};
        }
    }

private:
    using runner = function_ref<result<void>(once_run const&)>;
    [[nodiscard]] result<once_outcome> run_erased(std::string_view key, runner function) const;

    struct state : counted {
        state(any_store below, std::string name, once_options how);
        [[nodiscard]] result<detail::once_claim> send(
            function_ref<detail::once_operation(call const& context, detail::once_attempts again)> task);

        any_store through;
        std::string row_key;
        once_options options;
        detail::fresh_ids ids;
        result<void> usable;
    };
    shared<state> state_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/once/impl/once.ipp>
#endif
