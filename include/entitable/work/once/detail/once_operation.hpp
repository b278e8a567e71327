// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The requests of `once`: claims the row of a key, marks it as done, or frees it.

#include <entitable/core/backoff.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/core/request/resumable.hpp>

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
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/once/impl/once_operation.ipp>
#endif
