// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How a queue goes about it, and what it tells.

#include <entitable/client/contention.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/request/call.hpp>

#include <cstdint>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

/// The waits between looks at a queue in which nothing was: 1 s, then longer, up to 30 s.
inline constexpr backoff polling_backoff{.base = std::chrono::seconds{1},
    .least = std::chrono::nanoseconds{},
    .most = std::chrono::seconds{30},
    .jitter = 0.1,
    .jitter_at_cap = true};

/// How a queue goes about it.
struct queue_options {
    std::uint32_t lanes{8}; ///< partitions, 1 to 1000. Those of a queue that is there stay as many as they are
    std::chrono::nanoseconds visibility{std::chrono::seconds{30}}; ///< how long a claim holds, 2 s to 7 days
    std::uint32_t max_deliveries{5};    ///< claims of a message, then it becomes a dead letter; 0 is taken for 1
    backoff polling{polling_backoff};   ///< the waits of a claim that finds nothing
    std::uint32_t max_attempts{50};     ///< sendings of a request, the first one included; 0 is taken for 1
    backoff delays{contention_backoff}; ///< the waits between them
    clock* time{&system_clock()};       ///< of waits and of the times in keys; must outlive the queue
    std::uint64_t seed{};               ///< of ids, waits and where a worker begins to look; 0 for a fresh one
    call_options calls{};               ///< the wishes for each of its requests

    /// Requests of one worker in an hour in which nothing comes: each look is one request a lane.
    [[nodiscard]] double requests_per_idle_hour() const noexcept {
        auto const seconds = std::chrono::duration<double>{polling.most}.count();
        return seconds > 0 ? lanes * 3600.0 / seconds : 0;
    }
};

/// How a message is put into a queue.
struct enqueue_options {
    std::chrono::nanoseconds
        delay{};      ///< nobody sees it before; by the clock of the store, which costs one more request
    std::string id{}; ///< names the message: a second one of that id is not put into the queue. Empty: a fresh one
};

/// A message that was put into a queue.
struct enqueued {
    std::string id;       ///< its name
    bool already_there{}; ///< one of that id was there before, and maybe is done
};

/// How a worker asks for messages.
struct claim_options {
    std::chrono::nanoseconds wait{}; ///< how long it waits for a message to come; 0: it looks once
};

/// How many rows a queue has; approximate, since lanes are read one after the other.
struct queue_size {
    std::uint64_t ready{};        ///< messages that a worker would get now
    std::uint64_t held{};         ///< messages that a worker has, or that are delayed
    std::uint64_t dead_letters{}; ///< messages that were claimed too often
};

ENTITABLE_END_NAMESPACE
