// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of `run_worker`, the context of its handlers, and its report.

#include <entitable/core/backoff.hpp>
#include <entitable/core/cancellation.hpp>
#include <entitable/core/request/call.hpp>

#include <cstdint>
#include <functional>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// The waits before a message that has failed is delivered again: 1 s, then 3 s, 7 s and so on, up to 5 minutes.
inline constexpr backoff retry_backoff{.base = std::chrono::seconds{1},
    .least = std::chrono::nanoseconds{},
    .most = std::chrono::minutes{5},
    .jitter = 0.2,
    .jitter_at_cap = true};
/// The waits before a worker claims again from a store that does not respond: half a second, then longer, up to 30 s.
inline constexpr backoff outage_backoff{.base = std::chrono::milliseconds{500},
    .least = std::chrono::nanoseconds{},
    .most = std::chrono::seconds{30},
    .jitter = 0.5,
    .jitter_at_cap = true};

/// Options of `run_worker`.
struct worker_options {
    std::uint32_t threads{1}; ///< number of messages handled at the same time; 0 counts as 1
    /// Ends the worker: once the token is set, no message is claimed, and the handlers of claimed messages finish.
    cancellation_token stop{};
    /// Maximum wait of a thread for a message before it ends. By default there is no limit; 0 ends the thread as soon as the queue is
    /// empty. Delayed messages and messages claimed by another worker do not count.
    std::chrono::nanoseconds wait{no_timeout};
    double renew_after{0.5};        ///< fraction of a claim after which it is renewed, between 0 and 1
    backoff retry{retry_backoff};   ///< waits before a failed message is delivered again, indexed by delivery count
    backoff outage{outage_backoff}; ///< waits between claims while the store fails
    /// Called with errors of the store that do not end the worker: errors of a retried claim, of a renewal, and of a message whose outcome
    /// could not be stored. Any thread of the worker can call it, one call at a time.
    std::function<void(error const&)> on_error{};
};

/// The context of a handler's call.
struct work_context {
    std::string_view id;        ///< id of the message
    std::uint32_t deliveries{}; ///< number of claims, from 1
    bool last_delivery{};       ///< whether the message becomes a dead letter if the handler fails
    cancellation_token stop{};  ///< set once the worker should end; the handler can finish or return Cancelled
    /// Set once another worker has claimed the message, or the claim could not be renewed in time: the handler will run again.
    cancellation_token lost{};
};

/// The outcomes of the messages that a worker has claimed.
struct worker_report {
    std::uint64_t handled{}; ///< messages that were completed
    std::uint64_t failed{};  ///< messages whose handler failed and that will be delivered again
    std::uint64_t dead{};    ///< messages whose handler failed at the last delivery; dead letters after the next claim
    /// The handler returned Cancelled after `worker_options::stop` was set: the message was released immediately.
    std::uint64_t released{};
    /// Another worker had claimed the message when its handler ended, or its outcome could not be stored: the message is delivered again
    /// unless another worker completes it.
    std::uint64_t lost{};

    friend bool operator==(worker_report const&, worker_report const&) = default;
};

ENTITABLE_END_NAMESPACE
