// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `observer`: the only way in which this library reports what it does. It receives operations, their attempts and the waits between
/// them, in the words of OpenTelemetry's conventions for database clients, without a dependency on its SDK.

#include <entitable/core/chrono.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/error.hpp>
#include <entitable/request/trace_context.hpp>

#include <optional>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Which service answers. Texts live as long as the transport.
struct server_identity {
    std::string_view system;  ///< db.system.name: "sqlite", "azure.cosmosdb"; empty where the transport does not say
    std::string_view address; ///< server.address: a host; empty where nothing is sent over a network
    std::uint16_t port{};     ///< server.port; 0 for the usual one of the scheme
};

/// The ids of one span.
struct span_ids {
    trace_context own; ///< trace, this span, flags; the trace is zero where the call was given none
    /// The span above: of an attempt or a wait the operation, of an operation that of the caller's trace. 0: none.
    std::uint64_t parent{};
};

/// How something ended.
struct outcome_record {
    std::optional<error_code> error;     ///< error.type, as text by `to_string`; none on success
    entitable::effect effect{};          ///< of a write that failed, on the data
    std::uint16_t status{};              ///< http.response.status_code, db.response.status_code; 0 on success
    std::optional<std::uint64_t> rows{}; ///< db.response.returned_rows; of reads that succeeded
};

/// A request from its first attempt to its outcome: a span of kind CLIENT. Each page of a query is an operation, and so is each read
/// and each write of an update.
struct operation_record {
    span_ids span;            ///< its ids
    std::string_view name;    ///< db.operation.name: "get_entity", "query_entities", "transact"; "insert" for a write
    std::string_view table;   ///< db.collection.name; empty where there is none
    std::size_t batch_size{}; ///< db.operation.batch.size of a transaction of several changes; 0 for all else
    steady_time begun;        ///< when it began
    steady_time ended;        ///< when its outcome was known
    std::uint32_t attempts{}; ///< that were made; 0 for a request that was refused before
    outcome_record outcome;   ///< how it ended
    server_identity server;   ///< of the last attempt
};

/// One request that was sent: a child of its operation.
struct attempt_record {
    span_ids span; ///< its ids; its own one is what the header `traceparent` of this attempt has
    std::string_view
        name; ///< as that of an operation; a retry may also read an entity to find out what became of a write
    std::string_view table;      ///< db.collection.name; empty where there is none
    std::size_t batch_size{};    ///< as that of an operation
    std::uint32_t number{1};     ///< within its operation, from 1; http.request.resend_count is one less
    steady_time begun;           ///< when it was sent
    steady_time ended;           ///< when its answer arrived, or it was given up
    std::size_t request_size{};  ///< http.request.body.size, bytes; 0 where nothing is sent over a network
    std::size_t response_size{}; ///< http.response.body.size, bytes
    outcome_record outcome;      ///< how it ended
    std::string_view request_id; ///< the id that the service gave it; empty where it gave none
    server_identity server;      ///< where it was sent
};

/// Why there is a wait.
enum class wait_cause : std::uint8_t {
    back_off,    ///< the policy's time before the next attempt
    retry_after, ///< the service asked for more time than the policy has
    contention,  ///< other writers were faster
};

/// "back_off", "retry_after", "contention".
[[nodiscard]] constexpr std::string_view to_string(wait_cause cause) noexcept {
    constexpr std::string_view words[] = {"back_off", "retry_after", "contention"};
    return words[static_cast<std::size_t>(cause)];
}

/// A wait before a request, reported when it begins: an event of its operation. A cancellation may end it early.
struct wait_record {
    span_ids span;            ///< of the operation that waits; none between the operations of an update or a sequence
    std::string_view name;    ///< of the request that will be sent
    std::string_view table;   ///< its table
    wait_cause cause{};       ///< why
    std::uint32_t attempts{}; ///< of the operation so far
    steady_time begun;        ///< from when
    steady_time until;        ///< to when
};

/// Watches calls. Its functions are called on the thread of the call or of the channel, and the call waits for them. What a record
/// refers to is valid during the function only. No record holds a secret or user data: names of tables and kinds, codes, sizes, times
/// and ids only. Thread safety: calls of several threads call it from all of them at once.
class observer {
public:
    virtual ~observer() = default;
    /// An operation has ended.
    virtual void on_operation(operation_record const& done) noexcept { static_cast<void>(done); }
    /// An attempt has ended.
    virtual void on_attempt(attempt_record const& done) noexcept { static_cast<void>(done); }
    /// A wait begins.
    virtual void on_wait(wait_record const& wait) noexcept { static_cast<void>(wait); }
};

ENTITABLE_END_NAMESPACE
