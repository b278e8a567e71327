// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of a queue, and what its calls return.

#include <entitable/client/contention.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/request/call.hpp>

#include <cstdint>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

/// The waits between looks at an empty queue: 1 s, then longer, up to 30 s.
inline constexpr backoff polling_backoff{.base = std::chrono::seconds{1},
    .least = std::chrono::nanoseconds{},
    .most = std::chrono::seconds{30},
    .jitter = 0.1,
    .jitter_at_cap = true};

/// Options of a queue.
struct queue_options {
    std::uint32_t lanes{8}; ///< partitions, 1 to 1000. A queue that exists keeps its number
    std::chrono::nanoseconds visibility{std::chrono::seconds{30}}; ///< how long a claim holds, 2 s to 7 days
    std::uint32_t max_deliveries{5}; ///< claims (of a saga: without progress) before it is a dead letter; 0 counts as 1
    backoff polling{polling_backoff};   ///< the waits of a claim that finds nothing, between its looks
    std::uint32_t max_attempts{50};     ///< attempts of a request, including the first one; 0 counts as 1
    backoff delays{contention_backoff}; ///< the waits between them
    clock* time{&system_clock()};       ///< of waits and of the times in keys; must outlive the queue
    std::uint64_t seed{};               ///< of ids, waits and the lane a worker begins with; 0 for a fresh one
    /// The options of each of its requests. A cancellation ends claims and whatever else the queue does with Cancelled, but not what is done
    /// under a receipt: a worker can always end the message that it holds. To end a claim that waits use `claim_options::stop`.
    call_options calls{};

    /// Requests an hour of one worker that waits at an empty queue, once its waits have grown to the longest: each look is one request a lane.
    [[nodiscard]] double requests_per_idle_hour() const noexcept {
        auto const seconds = std::chrono::duration<double>{polling.most}.count();
        return seconds > 0 ? lanes * 3600.0 / seconds : 0;
    }
};

/// Options of a message that is put into a queue.
struct enqueue_options {
    std::chrono::nanoseconds
        delay{};      ///< it cannot be claimed before; by the clock of the store, which costs one more request
    std::string id{}; ///< names the message: a second one of that id is not enqueued. Empty: a fresh one
};

/// A message that was put into a queue.
struct enqueued {
    std::string id;       ///< its name
    bool already_there{}; ///< a message of that id was enqueued before; it may be done
};

/// Options of a claim.
struct claim_options {
    std::chrono::nanoseconds wait{}; ///< how long it waits for a message; 0: it looks once; `no_timeout`: without end
    /// Ends the wait within 5 ms, as if its time had passed: the claim returns nothing. Once it is set, a claim sends nothing. A message that was
    /// being claimed at that moment is returned. Calls under a receipt (`complete`, `renew`, `release`, `fail`) do not look at it.
    cancellation_token stop{};
};

/// How many messages a queue has; approximate, since lanes are read one after the other.
struct queue_size {
    std::uint64_t ready{};        ///< messages that can be claimed now
    std::uint64_t held{};         ///< messages that are claimed or delayed
    std::uint64_t dead_letters{}; ///< messages that were claimed too often
};

ENTITABLE_END_NAMESPACE
