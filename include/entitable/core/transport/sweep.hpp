// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `sweep_operation_rows`: removes operation rows that are no longer needed.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/request/operation_row.hpp>
#include <entitable/core/request/resumable.hpp>
#include <entitable/core/transport/run.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Selects the operation rows to sweep.
struct sweep_options {
    std::optional<std::string> partition_key{};                   ///< partition to sweep; nullopt scans the whole table
    std::chrono::nanoseconds retention{operation_row::retention}; ///< younger rows are not removed
    clock* time{&system_clock()};                                 ///< must outlive the sweep
};

namespace detail {

/// Reads operation rows page by page and removes those that are old enough, each under its ETag. `late`: how late an attempt may be
/// applied; `context`: the call that drives the operation, which has the service's clock. The call and the clock must outlive it.
resumable<std::size_t> sweep_pages(
    std::string table, sweep_options options, std::chrono::seconds late, call const& context);

} // namespace detail

/// Removes operation rows that were written longer ago than the retention, by this program's clock and by the service's, if known. Returns
/// the number of removed rows; stops at the first error. Any number of programs may run it at any time. Removing a row too early lets a
/// late attempt be applied a second time, or after it was abandoned: choose a retention longer than a call with its retries, the reuse of
/// an operation id, and the delay of an attempt. Errors: OutOfRangeInput for a retention shorter than that delay
/// (`profile::longest_late_application`, if bounded); those of the requests.
template <transport T>
[[nodiscard]] result<std::size_t> sweep_operation_rows(
    T& through, std::string table, call& context, sweep_options const& options = {}) {
    auto sweeping =
        detail::sweep_pages(std::move(table), options, through.profile().longest_late_application(), context);
    return run(sweeping, context, *options.time, through);
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/transport/impl/sweep.ipp>
#endif

#endif
