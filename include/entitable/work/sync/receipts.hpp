// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `expire_receipts`: removes what devices that are not used any more have left in the cloud.
///
///     expire_receipts(cloud_notes, std::chrono::hours{24 * 365}, {.partitions = {"ann"}}).value();

#include <entitable/client/contention.hpp>
#include <entitable/client/table.hpp>
#include <entitable/work/sync/detail/synced_table.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Options of `expire_receipts`.
struct receipt_options {
    std::vector<std::string> partitions{}; ///< partition keys, as they are stored
    bool whole_table{};                    ///< all partitions of the table, which costs a request for each to find them
    std::uint32_t max_attempts{20};     ///< attempts for one partition whose devices push, including the first; from 1
    backoff delays{contention_backoff}; ///< delays between attempts
    call_options calls{};               ///< options of each request; an operation id is refused
    clock* time{
        &system_clock()}; ///< clock for delays, and for the age of a receipt if the store does not tell its time
    std::uint64_t seed{}; ///< seed of delays; 0 for a fresh seed
};

/// The result of `expire_receipts`.
struct receipt_expiry {
    std::uint64_t partitions{}; ///< partitions that were read
    std::uint64_t removed{};    ///< receipts that were removed
    std::uint64_t kept{};       ///< receipts that are younger
};

/// Least age of a receipt that `expire_receipts` removes: a push that is still on its way must meet the receipt, which refuses it.
inline constexpr std::chrono::nanoseconds least_receipt_age{std::chrono::hours{1}};

namespace detail {

[[nodiscard]] result<receipt_expiry> expire_receipts_of(
    table_core const& cloud, std::chrono::nanoseconds older_than, receipt_options const& options);

} // namespace detail

/// Removes the receipts of devices that have pushed nothing for `older_than`, by the Timestamps and the clock of the store in the cloud.
/// Each device has one receipt in each partition that it has changed, a row of about 100 bytes; a device that only reads does not renew it.
///
/// A device that comes back without its receipt counts as restored from a backup: the rows in the cloud win, so that no removed row comes
/// back, and its unsent changes are reported as conflicts with `sync_conflict::restored`. If rows of it were removed, the partition ends
/// with ManyRemovals until `sync_options::allow_many_removals`. Afterwards it synchronises as before. A partition keeps one mark that receipts
/// were removed.
///
/// Errors: InvalidInput without partitions or with an operation id; OutOfRangeInput for an age below `least_receipt_age`;
/// UpdateConditionNotSatisfied if devices pushed during each attempt; those of the store. The call may be repeated.
/// Cost: one request for each 1,000 receipts of a partition, and one for each 99 that are removed. Thread safety: safe to call from several
/// threads, while devices synchronise.
template <class... Types>
[[nodiscard]] result<receipt_expiry> expire_receipts(
    table<Types...> const& cloud, std::chrono::nanoseconds older_than, receipt_options const& options) {
    if (older_than < least_receipt_age) {
        return failure{
            error_code::out_of_range_input, "expire_receipts must not remove receipts of less than one hour"};
    }
    return detail::expire_receipts_of(detail::synced_table<Types...>::core(cloud), older_than, options);
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/sync/impl/receipts.ipp>
#endif
