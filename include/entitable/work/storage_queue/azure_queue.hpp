// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `azure_queue<T>`: messages of type `T` in Azure Queue Storage.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/cloud/http/curl_client.hpp>
#endif
#include <entitable/core/try.hpp>
#if !defined(ENTITABLE_IMPORTED)
#include <entitable/work/messaging/claimed.hpp>
#include <entitable/work/messaging/message_queue.hpp>
#endif
#include <entitable/work/storage_queue/detail/service_queue.hpp>

#include <concepts>

ENTITABLE_BEGIN_NAMESPACE

/// A message of Queue Storage that a worker has claimed.
template <mapped_entity T>
using azure_claimed = claimed<T, detail::service_queue>;

/// A queue of Azure Queue Storage, in the cloud or emulated: `azure_queue<deletion> queue{connection_string, "deletions"}`. Delivery is at
/// least once. Thread safety: safe to use from several threads.
///
/// This queue works like a `table_queue`, except:
/// 1. The service issues the receipts and does not record its effects. After a lost response, a message may be enqueued twice
///    (under one id, see `id()`); a claim ends after `visibility`; a renewal may have invalidated the receipt (ReceiptLost), and the
///    message is delivered again.
/// 2. A dead letter is added to the queue NAME-poison, which is created on first use, and then removed from this queue. These are two
///    requests, so the message may be in both queues. `dead_letters` returns the queue NAME-poison.
/// 3. Times are whole seconds, rounded up. A message has at most 64 KiB as it is stored. `queue_options::lanes` has no effect.
/// 4. Messages cannot be enqueued in the transaction of an entity, and sagas need a `table_queue`.
///
/// Errors: those of the service, after up to `queue_options::max_attempts` attempts of a request that may succeed later.
template <mapped_entity T>
class azure_queue {
    static_assert(!detail::has_queue_property<T>(), "property names that begin with Queue_ are reserved for the queue");

public:
    using value_type = T;                    ///< the messages
    static constexpr bool keeps_ids = false; ///< see `message_queue`: a second message with the same id is enqueued

    /// Uses a connection string, as for tables; if it is invalid, each request fails with its error. The name: 3 to 63 lower-case letters,
    /// digits and single hyphens. Sends nothing.
    template <http_client Client = curl_client>
    azure_queue(std::string_view connection_string, std::string name, queue_options options = {},
        queue_text text = queue_text::plain, Client client = Client{})
        : core_(sender_of(std::move(client)), parse_connection_string(connection_string, account_service::queues),
              std::move(name), std::move(options), text) {}
    /// Uses the address of the queue service, "https://ACCOUNT.queue.core.windows.net", and what authorizes its requests: an `identity` of
    /// Entra ID, or a `credential`. If the address is invalid, each request fails with InvalidInput. Sends nothing.
    template <std::convertible_to<credential> Who, http_client Client = curl_client>
    azure_queue(std::string_view address, Who const& who, std::string name, queue_options options = {},
        queue_text text = queue_text::plain, Client client = Client{})
        : core_(sender_of(std::move(client)), detail::queue_settings(address, who), std::move(name), std::move(options),
              text) {}

    [[nodiscard]] std::string const& name() const noexcept { return core_.name(); } ///< name of the queue
    [[nodiscard]] queue_options const& options() const noexcept {
        return core_.options();
    } ///< options passed to the constructor
    /// Creates the queue unless it exists; returns whether this call created it.
    [[nodiscard]] result<bool> create() const { return core_.create(); }
    /// Deletes the queue with all messages if it exists; returns whether this call deleted it. Its name is free again after about 40 s.
    [[nodiscard]] result<bool> remove() const { return core_.remove(); }

    /// Enqueues a message. After a lost response it is sent again, and may then be enqueued twice.
    [[nodiscard]] result<enqueued> enqueue(T const& message, enqueue_options const& how = {}) const {
        auto made = to_row(message);
        return made ? core_.enqueue(*made, how) : std::move(made).as_failure();
    }
    /// Claims the next available message. Waits for a message until `how.wait` has passed or `how.stop` is set, then returns nullopt.
    [[nodiscard]] result<std::optional<azure_claimed<T>>> claim(claim_options const& how = {}) const {
        ENTITABLE_TRY(auto some, claim_some(1, how));
        result<std::optional<azure_claimed<T>>> one{std::in_place};
        if (!some.empty()) { one->emplace(std::move(some.front())); }
        return one;
    }
    /// Claims up to `most` messages, at most 32. A message of a different type is skipped, and eventually becomes a dead letter.
    [[nodiscard]] result<std::vector<azure_claimed<T>>> claim_some(
        std::uint32_t most, claim_options const& how = {}) const {
        result<std::vector<azure_claimed<T>>> made{std::in_place};
        ENTITABLE_TRY(auto got, core_.claim(most, how));
        for (detail::service_message& each : got) {
            if (T message{}; from_row(each.entity, message)) {
                made->push_back(
                    detail::claimed_access::make<T>(core_.under_receipt(), std::move(message), std::move(each.held)));
            }
        }
        return made;
    }
    /// Returns up to `most` messages at the head, at most 32, without claiming them. Messages of a different type are
    /// omitted.
    [[nodiscard]] result<std::vector<T>> peek(std::uint32_t most = 1) const {
        result<std::vector<T>> made{std::in_place};
        ENTITABLE_TRY(auto got, core_.peek(most));
        for (detail::service_message const& each : got) {
            if (T message{}; from_row(each.entity, message)) { made->push_back(std::move(message)); }
        }
        return made;
    }
    /// Returns the approximate number of messages, including claimed messages.
    [[nodiscard]] result<std::uint64_t> approximate_count() const { return core_.approximate_count(); }
    /// Returns the queue NAME-poison. To drop one of its messages, claim and complete it; to process it again, enqueue it here first. If
    /// there has been no dead letter yet, its calls return ResourceNotFound.
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
