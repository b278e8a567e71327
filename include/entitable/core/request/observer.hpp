// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `observer`: receives all reports of this library: operations, their attempts and the waits between them. Its names follow
/// OpenTelemetry's conventions for database clients, without a dependency on the SDK.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/chrono.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/error.hpp>
#include <entitable/core/request/trace_context.hpp>

#include <optional>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Identity of the service that responds. The texts live as long as the transport.
struct server_identity {
    std::string_view system;  ///< db.system.name: "sqlite", "azure.cosmosdb"; empty if unknown
    std::string_view address; ///< server.address: a host; empty without a network
    std::uint16_t port{};     ///< server.port; 0 for the default port of the scheme
};

/// The ids of one span.
struct span_ids {
    trace_context own; ///< trace, this span, flags; the trace is zero if the call has no trace
    /// The parent span: the operation for an attempt or a wait, the caller's span for an operation. 0: none.
    std::uint64_t parent{};
};

/// Outcome of an operation or an attempt.
struct outcome_record {
    std::optional<error_code> error;     ///< error.type, as text by `to_string`; nullopt on success
    entitable::effect effect{};          ///< effect of a failed write
    std::uint16_t status{};              ///< http.response.status_code, db.response.status_code; 0 on success
    std::optional<std::uint64_t> rows{}; ///< db.response.returned_rows, for successful reads
};

/// A request from its first attempt to its outcome: a span of kind CLIENT. Each page of a query is an operation, as is each read and each
/// write of an update.
struct operation_record {
    span_ids span;            ///< ids of the operation's span
    std::string_view name;    ///< db.operation.name: "get_entity", "query_entities", "transact"; "insert" for a write
    std::string_view table;   ///< db.collection.name; empty if there is none
    std::size_t batch_size{}; ///< db.operation.batch.size of a transaction of several changes; otherwise 0
    steady_time begun;        ///< start time
    steady_time ended;        ///< time of the outcome
    std::uint32_t attempts{}; ///< number of attempts; 0 for a request refused before it was sent
    outcome_record outcome;   ///< outcome
    server_identity server;   ///< server of the last attempt
};

/// One request that was sent: a child of its operation.
struct attempt_record {
    span_ids span; ///< ids of the span; `own` is sent in the header `traceparent` of this attempt
    std::string_view
        name; ///< name in logs, as in an operation; a retry may also read an entity to find out whether a write was applied
    std::string_view table;      ///< db.collection.name; empty if there is none
    std::size_t batch_size{};    ///< number of changes, as in an operation
    std::uint32_t number{1};     ///< number of the attempt, from 1; http.request.resend_count is one less
    steady_time begun;           ///< time at which the attempt was sent
    steady_time ended;           ///< time at which the response arrived, or the attempt was abandoned
    std::size_t request_size{};  ///< http.request.body.size, bytes; 0 without a network
    std::size_t response_size{}; ///< http.response.body.size, bytes
    outcome_record outcome;      ///< outcome
    double request_charge{};     ///< cost in request units as the service reported it; 0 if it reported none
    std::string_view request_id; ///< the id that the service returned; empty if it returned none
    server_identity server;      ///< service that received the attempt
    bool secondary{};            ///< sent to a secondary location, whose answer may be stale; `server` names its host
};

/// Cause of a wait.
enum class wait_cause : std::uint8_t {
    back_off,    ///< the policy's delay before the next attempt
    retry_after, ///< the service requested a longer delay than the policy's
    contention,  ///< other writers won the conflict
    rate_limit,  ///< `limited` spreads the requests
};

/// Returns "back_off", "retry_after", "contention" or "rate_limit".
[[nodiscard]] constexpr std::string_view to_string(wait_cause cause) noexcept {
    constexpr std::string_view words[] = {"back_off", "retry_after", "contention", "rate_limit"};
    return words[static_cast<std::size_t>(cause)];
}

/// A wait before a request, reported at its start: an event of its operation. A cancellation may end it early.
struct wait_record {
    span_ids span;         ///< ids of the operation that waits; empty between the operations of an update or a sequence
    std::string_view name; ///< name of the request that will be sent
    std::string_view table;   ///< table of that request
    wait_cause cause{};       ///< cause of the wait
    std::uint32_t attempts{}; ///< attempts of the operation so far
    steady_time begun;        ///< start of the wait
    steady_time until;        ///< planned end of the wait
};

/// Observes calls. Its functions are called on the thread of the call or of the channel, and the call waits for them. References in a
/// record are valid only during the function. Records hold no secrets and no user data, only names of tables and kinds,
/// codes, sizes, times and ids. Thread safety: called concurrently from all threads that make calls.
class observer {
public:
    virtual ~observer() = default;
    /// Called when an operation has ended.
    virtual void on_operation(operation_record const& done) noexcept { static_cast<void>(done); }
    /// Called when an attempt has ended.
    virtual void on_attempt(attempt_record const& done) noexcept { static_cast<void>(done); }
    /// Called when a wait starts.
    virtual void on_wait(wait_record const& wait) noexcept { static_cast<void>(wait); }
};

ENTITABLE_END_NAMESPACE

#endif
