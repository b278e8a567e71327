// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `message_queue`: the requirements that every queue meets, in any store; options of a queue, and the results of its calls.

#include <entitable/client/contention.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/request/call.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

/// The waits between reads of an empty queue: 1 s, then longer, up to 30 s.
inline constexpr backoff polling_backoff{.base = std::chrono::seconds{1},
    .least = std::chrono::nanoseconds{},
    .most = std::chrono::seconds{30},
    .jitter = 0.1,
    .jitter_at_cap = true};

/// Options of a queue.
struct queue_options {
    std::uint32_t lanes{8}; ///< number of partitions, 1 to 1000; fixed when the queue is created
    std::chrono::nanoseconds visibility{std::chrono::seconds{30}}; ///< duration of a claim, 2 s to 7 days
    std::uint32_t max_deliveries{5};    ///< maximum number of claims (of a saga: without progress); 0 counts as 1
    backoff polling{polling_backoff};   ///< waits between the reads of a claim that finds nothing
    std::uint32_t max_attempts{50};     ///< attempts of a request, including the first attempt; 0 counts as 1
    backoff delays{contention_backoff}; ///< waits between the attempts of a request
    clock* time{&system_clock()};       ///< clock for waits and for the times in keys; must outlive the queue
    std::uint64_t seed{};               ///< seed for ids, waits and a worker's first lane; 0 for a fresh seed
    /// Options of each request. A cancellation ends claims and other calls to the queue with Cancelled, except calls
    /// under a receipt: a worker can always complete or release the message that it holds. To end a waiting claim use
    /// `claim_options::stop`.
    call_options calls{};

    /// Requests per hour of one worker that waits for messages in an empty queue, once its waits have reached the maximum: each read sends
    /// one request per lane.
    [[nodiscard]] double requests_per_idle_hour() const noexcept {
        auto const seconds = std::chrono::duration<double>{polling.most}.count();
        return seconds > 0 ? lanes * 3600.0 / seconds : 0;
    }
};

/// Options of `enqueue`.
struct enqueue_options {
    std::chrono::nanoseconds
        delay{};      ///< time before the message can be claimed, by the clock of the store; costs one more request
    std::string id{}; ///< id of the message: a second message with the same id is not enqueued. Empty: a fresh id
};

/// The result of `enqueue`.
struct enqueued {
    std::string id;       ///< id of the message
    bool already_there{}; ///< a message with that id was enqueued before; it may be completed
};

/// Options of a claim.
struct claim_options {
    std::chrono::nanoseconds wait{}; ///< maximum wait for a message; 0: one read; `no_timeout`: no limit
    /// Ends the wait within 5 ms, as if its limit had passed: the claim returns nothing. Once the token is set, a claim sends nothing. A
    /// message that was being claimed at that moment is returned. Calls under a receipt (`complete`, `renew`, `release`, `fail`) ignore the
    /// token.
    cancellation_token stop{};
};

/// The number of messages in a queue; it is approximate, because lanes are read one after the other.
struct queue_size {
    std::uint64_t ready{};        ///< number of messages that can be claimed now
    std::uint64_t held{};         ///< number of messages that are claimed or delayed
    std::uint64_t dead_letters{}; ///< number of messages that were claimed too often
};

/// A claimed message: movable, not copyable, with a receipt that can complete or release the message once.
template <class Item, class T>
concept claimed_message = std::movable<Item> && !std::copyable<Item> &&
    requires(Item& item, Item const& held, std::chrono::nanoseconds time, std::string_view why) {
        { held.message() } -> std::convertible_to<T const&>;
        { held.id() } -> std::convertible_to<std::string_view>;
        { held.deliveries() } -> std::convertible_to<std::uint32_t>;
        { held.remaining() } -> std::convertible_to<std::chrono::nanoseconds>;
        { item.complete() } -> std::same_as<result<void>>;
        { item.renew(time) } -> std::same_as<result<void>>;
        { item.release(time) } -> std::same_as<result<void>>;
        { item.fail(why, time) } -> std::same_as<result<void>>;
    };

/// A queue of messages of type `T` that several workers share. Each message is delivered at least once: to one worker,
/// and to another one if the first worker does not complete it in time.
///
/// Semantic rules:
/// 1. A message can be claimed until it is completed, or was claimed `max_deliveries` times.
/// 2. A claim lasts for a limited time, by the clock of the store. No two receipts of a message are valid at the same time.
/// 3. A worker that has lost a message gets ReceiptLost, and has changed nothing.
/// 4. With `keeps_ids` a second message with the same id is refused as long as the queue stores the id of the first message.
template <class Q, class T>
concept message_queue =
    requires(Q const& queue, T const& message, enqueue_options const& put, claim_options const& ask) {
        { Q::keeps_ids } -> std::convertible_to<bool>;
        { queue.enqueue(message, put) } -> std::same_as<result<enqueued>>;
        requires claimed_message<typename decltype(queue.claim(ask))::value_type::value_type, T>;
    };

ENTITABLE_END_NAMESPACE
