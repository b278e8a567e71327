// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Part of `storage_queue`: queues of Azure Queue Storage, in addition to the tables of the same account.
///
/// The part of a queue that does not depend on the type of its messages. The service issues the receipts: a pop receipt is valid until the
/// message is claimed or updated again. A message is the entity as JSON, with the id that its sender chose.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/cloud/account/connection_string.hpp>
#include <entitable/cloud/rest/detail/rest_engine.hpp>
#include <entitable/work/messaging/detail/queue_core.hpp>
#endif

#include <functional>

ENTITABLE_BEGIN_NAMESPACE

/// The encoding of messages in Queue Storage.
enum class queue_text : std::uint8_t {
    plain,  ///< plain JSON: up to 64 KiB
    base64, ///< JSON in base64, as older clients and triggers expect: up to 48 KiB
};

namespace detail {

/// The receipt of a message that a worker has claimed.
struct service_receipt : held_time {
    std::string message; ///< the id chosen by the service
    std::string pop;     ///< the receipt
    std::string name;    ///< the id chosen by the sender
    std::string text;    ///< the encoded message
    std::uint32_t deliveries{};
    bool spent{true};

    [[nodiscard]] std::string_view id() const noexcept { return name; }
};

/// A claimed or peeked message.
struct service_message {
    service_receipt held;
    row entity;
};

/// Parses the address of a queue service. Errors: InvalidInput for what `endpoint::parse` refuses, and for the address of a table service or
/// of a queue.
[[nodiscard]] result<connection_settings> queue_settings(std::string_view address, credential const& who);

/// A queue of the service. Safe to use from several threads.
class service_queue {
public:
    using receipt_type = service_receipt;
    using sender = std::function<result<http_response>(http_request const&, http_call const&)>;

    service_queue(sender send, result<connection_settings> at, std::string name, queue_options how, queue_text text);

    [[nodiscard]] std::string const& name() const { return state().name; }
    [[nodiscard]] queue_options const& options() const { return state().options; }
    [[nodiscard]] clock& time() const { return *state().options.time; }
    /// Returns the queue of dead letters, whose messages can be claimed any number of times.
    [[nodiscard]] service_queue dead_letters() const;
    /// Like `queue_core::under_receipt`.
    [[nodiscard]] service_queue under_receipt() const {
        service_queue made = *this;
        made.under_receipt_ = true;
        return made;
    }
    /// Like `queue_core::sending_once`.
    [[nodiscard]] service_queue sending_once() const {
        service_queue made = under_receipt();
        made.once_ = true;
        return made;
    }

    [[nodiscard]] result<bool> create() const;
    [[nodiscard]] result<bool> remove() const;
    [[nodiscard]] result<enqueued> enqueue(row_view message, enqueue_options const& how) const;
    [[nodiscard]] result<std::vector<service_message>> claim(std::uint32_t most, claim_options const& how) const;
    [[nodiscard]] result<std::vector<service_message>> peek(std::uint32_t most) const;
    [[nodiscard]] result<std::uint64_t> approximate_count() const;

    [[nodiscard]] result<void> renew(service_receipt& held, std::chrono::nanoseconds visibility) const;
    /// Returns the message to the queue, with a reason unless it is empty. The receipt must not be spent yet.
    [[nodiscard]] result<void> give_back(
        service_receipt& held, std::string_view why, std::chrono::nanoseconds delay) const;
    [[nodiscard]] result<void> complete(service_receipt& held) const;
    [[nodiscard]] result<std::string> reason(service_receipt const& held) const;

private:
    struct shared_state : counted {
        shared_state(sender with, shared<rest_engine> by, std::string called, queue_options how, queue_text as)
            : send(std::move(with)),
              engine(std::move(by)),
              name(std::move(called)),
              options(std::move(how)),
              text(as),
              ids(options.seed) {}

        sender send;
        shared<rest_engine> engine;
        std::string name;
        queue_options options;
        queue_text text;
        fresh_ids ids;
    };
    explicit service_queue(shared<shared_state> made) : state_(std::move(made)) {}

    [[nodiscard]] bool again(contention& sends) const;
    [[nodiscard]] std::string messages_path() const;
    [[nodiscard]] std::string path_of(service_receipt const& held) const;
    /// Returns a message as a request body. Errors: RequestBodyTooLarge.
    [[nodiscard]] result<std::string> body_of(std::string_view text) const;
    /// Sends a request once, in a separate call.
    [[nodiscard]] result<http_response> send(plain_request const& request, date_time& told) const;
    /// Sends a request until the outcome is known, at most `max_attempts` times; sets whether an earlier attempt may have taken effect.
    [[nodiscard]] result<http_response> settle(plain_request const& request, date_time& told, bool& maybe) const;
    [[nodiscard]] result<std::vector<service_message>> read(http_response const& answer, date_time told) const;
    [[nodiscard]] result<void> put(std::string_view text, std::chrono::nanoseconds delay, bool& maybe) const;
    [[nodiscard]] result<void> update(
        service_receipt& held, std::optional<std::string> text, std::chrono::nanoseconds visibility) const;
    [[nodiscard]] bool bury(service_message& used_up) const;

    /// Returns the state that all copies share; after a move, a state that returns InvalidInput.
    [[nodiscard]] shared_state& state() const { return state_ ? *state_ : absent_state(); }
    [[nodiscard]] static shared_state& absent_state();

    shared<shared_state> state_;
    bool under_receipt_{};
    bool once_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/storage_queue/impl/service_queue.ipp>
#endif
