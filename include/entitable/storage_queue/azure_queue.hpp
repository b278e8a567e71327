// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `azure_queue<T>`: messages of type `T` in Azure Queue Storage.

#include <entitable/http/curl_client.hpp>
#include <entitable/messaging/claimed.hpp>
#include <entitable/messaging/message_queue.hpp>
#include <entitable/storage_queue/detail/service_queue.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A message of Queue Storage in the hands of a worker.
template <mapped_entity T>
using azure_claimed = claimed<T, detail::service_queue>;

/// A queue of Azure Queue Storage, in the cloud or emulated: `azure_queue<deletion> queue{connection_string, "deletions"}`. Delivery is at least
/// once. Safe to use from several threads.
///
/// It does what a `table_queue` does, but for this:
/// 1. The service gives the receipts and forgets what it has done. An answer that was lost is not found again: a message may be put in twice
///    (under one id, which `id()` tells); a claim without an answer is over after `visibility`; a renewal without an answer has cost the receipt
///    (ReceiptLost), and the message comes again.
/// 2. A dead letter goes to the queue NAME-poison, which is made when it is needed, and is removed here then: two requests, so
///    it may be there twice. `dead_letters` is that queue.
/// 3. Times are whole seconds, rounded up. A message is 64 KiB as it is stored. `queue_options::lanes` does not matter.
/// 4. Nothing is enqueued in the transaction of an entity, and sagas need a `table_queue`.
///
/// Errors are those of the service. `max_attempts` sendings of a request that may succeed.
template <mapped_entity T>
class azure_queue {
    static_assert(!detail::has_queue_property<T>(), "the properties that begin with Queue_ are those of the queue");

public:
    using value_type = T;                    ///< the messages
    static constexpr bool keeps_ids = false; ///< see `message_queue`: a second message of an id is put in

    /// From a connection string, as of tables; a string that is bad is told by each request. The name: 3 to 63 lower-case letters, digits and
    /// single hyphens. Asks nothing yet.
    template <http_client Client = curl_client>
    azure_queue(std::string_view connection_string, std::string name, queue_options options = {},
        queue_text text = queue_text::plain, Client client = Client{})
        : core_(sender_of(std::move(client)), parse_connection_string(connection_string, account_service::queues),
              std::move(name), std::move(options), text) {}

    [[nodiscard]] std::string const& name() const noexcept { return core_.name(); }         ///< of the queue
    [[nodiscard]] queue_options const& options() const noexcept { return core_.options(); } ///< as they were given
    /// Makes the queue unless it is there; whether it was made now.
    [[nodiscard]] result<bool> create() const { return core_.create(); }
    /// Removes the queue with all messages, unless it is gone; whether it was removed now. Its name is free again after some 40 s.
    [[nodiscard]] result<bool> remove() const { return core_.remove(); }

    /// Puts a message in. It is sent again until that is known, and may be there twice then.
    [[nodiscard]] result<enqueued> enqueue(T const& message, enqueue_options const& how = {}) const {
        auto made = to_row(message);
        return made ? core_.enqueue(*made, how) : std::move(made).as_failure();
    }
    /// The next message that nobody has; nothing where there is none, after the wait that was asked for.
    [[nodiscard]] result<std::optional<azure_claimed<T>>> claim(claim_options const& how = {}) const {
        auto some = claim_some(1, how);
        if (!some) {
            return std::move(some).as_failure();
        }
        result<std::optional<azure_claimed<T>>> one{std::in_place};
        if (!some->empty()) {
            one->emplace(std::move(some->front()));
        }
        return one;
    }
    /// Up to so many at once, 32 at most. What is no message of this type is left to become a dead letter.
    [[nodiscard]] result<std::vector<azure_claimed<T>>> claim_some(
        std::uint32_t most, claim_options const& how = {}) const {
        result<std::vector<azure_claimed<T>>> made{std::in_place};
        auto got = core_.claim(most, how.wait);
        if (!got) {
            return std::move(got).as_failure();
        }
        for (detail::service_message& each : *got) {
            if (T message{}; from_row(each.entity, message)) {
                made->push_back(detail::claimed_access::make<T>(core_, std::move(message), std::move(each.held)));
            }
        }
        return made;
    }
    /// Messages at the head, 32 at most, which nobody claims by that. What is no message of this type is left out.
    [[nodiscard]] result<std::vector<T>> peek(std::uint32_t most = 1) const {
        result<std::vector<T>> made{std::in_place};
        auto got = core_.peek(most);
        if (!got) {
            return std::move(got).as_failure();
        }
        for (detail::service_message const& each : *got) {
            if (T message{}; from_row(each.entity, message)) {
                made->push_back(std::move(message));
            }
        }
        return made;
    }
    /// Messages that are there, those that workers have among them.
    [[nodiscard]] result<std::uint64_t> approximate_count() const { return core_.approximate_count(); }
    /// The queue NAME-poison. To throw one of its messages away, claim and complete it; to try it again, enqueue it here before.
    /// QueueNotFound is told as ResourceNotFound: there was no dead letter yet.
    [[nodiscard]] azure_queue dead_letters() const { return azure_queue{core_.dead_letters()}; }

private:
    explicit azure_queue(detail::service_queue core) : core_(std::move(core)) {}

    template <class Client>
    [[nodiscard]] static detail::service_queue::sender sender_of(Client client) {
        return [client = std::move(client)](
                   http_request const& request, http_call const& call) mutable { return client.send(request, call); };
    }

    detail::service_queue core_;
};

ENTITABLE_END_NAMESPACE
