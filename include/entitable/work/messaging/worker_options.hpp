// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of `run_worker`, what its handlers are given, and what it returns.

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
/// The waits before a worker claims again from a store that does not answer: half a second, then longer, up to 30 s.
inline constexpr backoff outage_backoff{.base = std::chrono::milliseconds{500},
    .least = std::chrono::nanoseconds{},
    .most = std::chrono::seconds{30},
    .jitter = 0.5,
    .jitter_at_cap = true};

/// Options of `run_worker`.
struct worker_options {
    std::uint32_t threads{1}; ///< messages that are handled at the same time; 0 counts as 1
    /// Ends the worker: once it is set no message is claimed, and messages in hand are handled to their end.
    cancellation_token stop{};
    /// How long a thread waits for a message before it ends. By default without end; 0 ends it at an empty queue. A message that is delayed or
    /// claimed by another worker does not count.
    std::chrono::nanoseconds wait{no_timeout};
    double renew_after{0.5};        ///< the part of a claim after which it is renewed, between 0 and 1
    backoff retry{retry_backoff};   ///< how long a message that has failed waits, by the number of its deliveries
    backoff outage{outage_backoff}; ///< the waits between claims while the store fails
    /// Called with errors of the store that do not end the worker: of a claim that is tried again, of a renewal, and of a message whose end could
    /// not be stored. From any of the worker's threads, one call at a time.
    std::function<void(error const&)> on_error{};
};

/// What a handler may want to know besides the message.
struct work_context {
    std::string_view id;        ///< the name of the message
    std::uint32_t deliveries{}; ///< how often it was claimed, from 1
    bool last_delivery{};       ///< whether it becomes a dead letter if the handler fails
    cancellation_token stop{};  ///< set once the worker is to end. A handler may finish, or return Cancelled
    /// Set once another worker has claimed the message, or it could not be renewed in time: the handler will run again.
    cancellation_token lost{};
};

/// What became of the messages that a worker has claimed.
struct worker_report {
    std::uint64_t handled{}; ///< completed
    std::uint64_t failed{};  ///< the handler failed, and the message is delivered again
    std::uint64_t dead{};    ///< the handler failed at the last delivery: a dead letter, once a claim meets it
    /// The handler returned Cancelled after `worker_options::stop` was set: the message was given back at once.
    std::uint64_t released{};
    /// Another worker had claimed the message when its handler ended, or its end could not be stored: it is delivered again unless
    /// another worker completes it.
    std::uint64_t lost{};

    friend bool operator==(worker_report const&, worker_report const&) = default;
};

ENTITABLE_END_NAMESPACE
