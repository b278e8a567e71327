// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `call`: the context of one call: its deadline, cancellation and observer, and results in addition to the response.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/cancellation.hpp>
#include <entitable/core/chrono.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/error.hpp>
#include <entitable/core/request/observer.hpp>
#include <entitable/core/row/reading.hpp>

#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Location that may serve a read.
enum class read_location : std::uint8_t {
    primary,                ///< the latest writes
    secondary,              ///< may be stale; the response shows it
    primary_then_secondary, ///< the primary; the secondary while the primary does not respond. The response shows which
};

/// Which layers below a call repeat its requests.
enum class retry : std::uint8_t {
    standard,  ///< an explicit `retrying`, else the backend (`rest_options::retries`)
    by_caller, ///< an explicit `retrying`; the backend sends each request once, because the caller repeats it
    off,       ///< no layer: each request is sent once
};

/// No timeout for a call.
inline constexpr std::chrono::nanoseconds no_timeout = (std::chrono::nanoseconds::max)();
/// No deadline.
inline constexpr steady_time no_deadline = (steady_time::max)();

/// Per-call options, stored in a table and applied to each of its calls.
struct call_options {
    std::chrono::nanoseconds timeout{no_timeout};   ///< limit for one call including retries; for each page of a query
    cancellation_token cancellation{};              ///< cancels the call, with Cancelled
    read_location location{read_location::primary}; ///< location that may serve reads
    entitable::observer* watch{};                   ///< receives reports of the calls; must outlive them
    trace_context trace{};                          ///< parent span of the calls, sent to the service
    entitable::reading reading{entitable::reading::standard}; ///< how rows are converted to entities
    entitable::retry retry{entitable::retry::standard};       ///< layers that repeat failed requests
    /// Id of one write, which is applied once however often it is sent: see `retrying`; NotSupported over a store that does not repeat requests
    /// (`profile::operation_ids`). Empty:
    /// no id.
    std::string operation_id{};
};

namespace detail {

/// The spans of an observed call.
struct call_spans {
    server_identity const* server{}; ///< server of the last attempt; null if unknown
    std::uint64_t drawn{};           ///< source of span ids; 0 until the first is needed
    std::uint64_t operation{};       ///< the span of the open operation; 0 if none is open
    void const* opened_by{};         ///< the channel that opened the call; null if none did
    std::uint32_t attempts_before{}; ///< attempts of other operations of the same call
};

} // namespace detail

/// The context of one call, passed from transport to transport. Thread safety: one thread at a time, and one request at a time.
struct call {
    call() = default; ///< no deadline, no observer
    /// Starts a call: its deadline is now plus the timeout, by the steady time of `time`.
    ENTITABLE_LAZY explicit call(call_options const& options, clock& time = system_clock())
        : cancellation(options.cancellation),
          location(options.location),
          retry(options.retry),
          watch(options.watch),
          trace(options.trace) {
        if (!options.operation_id.empty()) { // usually empty; copying would take time
            operation_id = options.operation_id;
        }
        if (options.timeout != no_timeout) {
            steady_time const now = time.steady();
            auto const timeout = std::chrono::duration_cast<steady_time::duration>(options.timeout);
            deadline = timeout > no_deadline - now ? no_deadline : now + timeout;
        }
    }

    steady_time deadline{no_deadline};                  ///< steady time after which no request is started
    cancellation_token cancellation{};                  ///< cancels the call, with Cancelled
    read_location location{read_location::primary};     ///< location that may serve a read
    entitable::retry retry{entitable::retry::standard}; ///< layers that repeat failed requests
    entitable::observer* watch{};                       ///< receives reports of the call, or null; outlives the call
    trace_context trace{};                              ///< parent span; empty without a trace
    std::string operation_id; ///< id of one logical write over all its attempts; empty if none was set

    std::uint32_t attempts{};             ///< attempts made so far
    std::vector<std::string> request_ids; ///< ids that the service returned, one per attempt
    double request_charge{};              ///< cost of all attempts in request units, as far as the service reported it
    date_time server_date;                ///< the service's clock in its latest response; 1601 if unknown
    /// The service's time until which a write of this call whose response was lost may still be applied; a read that starts after a
    /// response with a later `server_date` shows whether the write was applied. 1601 if no response was lost, `date_time::max_ticks` if
    /// there is no bound. Later attempts extend it. See `profile::longest_late_application`.
    date_time undecided_until;
    detail::call_spans spans; ///< spans for the observer
    void const*
        repeated_by{}; ///< the layer that repeats the open request; null if none does. Backends below it send each attempt once
};

ENTITABLE_END_NAMESPACE

#endif
