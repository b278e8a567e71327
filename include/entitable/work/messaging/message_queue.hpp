// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `message_queue`: the requirements that every queue meets, in any store.

#include <entitable/work/messaging/queue_options.hpp>

#include <concepts>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE

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
