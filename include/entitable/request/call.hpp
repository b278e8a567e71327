// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `call`: what belongs to one call and not to its data: its deadline, cancellation and observer; and what it brings back besides
/// the answer.

#include <entitable/core/cancellation.hpp>
#include <entitable/core/chrono.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/error.hpp>
#include <entitable/request/observer.hpp>
#include <entitable/row/reading.hpp>

#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Where a read may be answered.
enum class read_location : std::uint8_t {
    primary,   ///< what was written last
    secondary, ///< may be stale; the answer says so
};

/// No limit on the time of a call.
inline constexpr std::chrono::nanoseconds no_timeout = (std::chrono::nanoseconds::max)();
/// No deadline.
inline constexpr steady_time no_deadline = (steady_time::max)();

/// Per-call options, stored in a table and applied to each of its calls.
struct call_options {
    std::chrono::nanoseconds timeout{no_timeout};   ///< for one call, its retries included; for each page of a query
    cancellation_token cancellation{};              ///< ends the call early, with Cancelled
    read_location location{read_location::primary}; ///< where reads may be answered
    entitable::observer* watch{};                   ///< receives what the calls do; must outlive them
    trace_context trace{};                          ///< the span that the calls are made in, sent to the service
    entitable::reading reading{entitable::reading::standard}; ///< how rows become entities
    /// Names one write, so that it is applied once however often it is sent: see `retrying`; NotSupported without one. Empty: none.
    std::string operation_id{};
};

namespace detail {

/// The spans of a call that is watched.
struct call_spans {
    server_identity const* server{}; ///< of the last attempt; null where it did not say
    std::uint64_t drawn{};           ///< ids are drawn from this number; 0 until the first is needed
    std::uint64_t operation{};       ///< the span of the operation that is open; 0 for none
    void const* opened_by{};         ///< the channel that opened it; null for none
    std::uint32_t attempts_before{}; ///< of other operations of the same call
};

} // namespace detail

/// One call on its way through the transports. Thread safety: one thread at a time, and one request at a time.
struct call {
    call() = default; ///< without a deadline, without an observer
    /// Begins a call: its deadline is the timeout from now, by the steady time of `time`.
    ENTITABLE_LAZY explicit call(call_options const& options, clock& time = system_clock())
        : cancellation(options.cancellation), location(options.location), watch(options.watch), trace(options.trace) {
        if (!options.operation_id.empty()) { // most have none, and to copy that takes time too
            operation_id = options.operation_id;
        }
        if (options.timeout != no_timeout) {
            steady_time const now = time.steady();
            auto const timeout = std::chrono::duration_cast<steady_time::duration>(options.timeout);
            deadline = timeout > no_deadline - now ? no_deadline : now + timeout;
        }
    }

    steady_time deadline{no_deadline};              ///< steady time after which nothing is begun
    cancellation_token cancellation{};              ///< ends the call early, with Cancelled
    read_location location{read_location::primary}; ///< where a read may be answered
    entitable::observer* watch{};                   ///< receives what it does, null for none; outlives the call
    trace_context trace{};                          ///< the span that it is made in; none for no trace
    std::string operation_id; ///< names one logical write over all its attempts; empty when none was given

    std::uint32_t attempts{};             ///< attempts made so far
    std::vector<std::string> request_ids; ///< of the service, one per attempt where it gives them
    date_time server_date;                ///< the service's clock in its last answer; 1601 when it gave none
    /// The service's time until which a write of this call whose answer was lost may still be applied; a read that begins after an
    /// answer with a later `server_date` sees whether it was. 1601 when no answer was lost, `date_time::max_ticks` when nothing bounds
    /// it. Later attempts extend it. See `profile::longest_late_application`.
    date_time undecided_until;
    detail::call_spans spans; ///< of what the observer receives
};

ENTITABLE_END_NAMESPACE
