// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `claimed<T>`: a message that a worker has claimed, and its receipt.

#include <entitable/client/mapping/codec.hpp>
#include <entitable/work/messaging/detail/queue_core.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

struct claimed_access;

template <class Entity>
[[nodiscard]] consteval bool has_queue_property() {
    return std::ranges::any_of(mapping<Entity>::property_names,
        [](std::string_view name) { return name.starts_with(queue_property::prefix); });
}

} // namespace detail

/// A claimed message; movable, not copyable. Its receipt is the ETag of the stored row, and is valid for one of `complete`, `release` or
/// `fail`. Without one of these calls the message is delivered again when the claim expires.
///
/// Errors: ReceiptLost if the claim had expired and another worker has claimed or completed the message (then nothing
/// is changed); InvalidInput if the message was already completed or released through this object, or the object was
/// moved from; those of the store. Thread safety: one thread at a time. `Core` is the type of queue that the message
/// comes from.
template <mapped_entity T, class Core = detail::queue_core>
class [[nodiscard]] claimed {
public:
    using value_type = T; ///< type of the message

    claimed(claimed&& other) noexcept
        : queue_(other.queue_), // NOLINT: both share the handle
          message_(std::move(other.message_)),
          held_(std::move(other.held_)) {
        other.held_.spent = true;
    } ///< `other` becomes an ended claim
    /// `other` becomes an ended claim.
    claimed& operator=(claimed&& other) noexcept {
        queue_ = other.queue_;
        message_ = std::move(other.message_);
        held_ = std::move(other.held_);
        other.held_.spent = true;
        return *this;
    }
    ~claimed() = default;

    [[nodiscard]] T const& message() const noexcept { return message_; }      ///< content of the message
    [[nodiscard]] std::string_view id() const noexcept { return held_.id(); } ///< id of the message
    [[nodiscard]] std::uint32_t deliveries() const noexcept {
        return held_.deliveries;
    } ///< number of claims, from 1; for a saga, counted since the last recorded step
    /// The remaining time of the claim less one second, by the store's time in the last response and the monotonic clock of this program
    /// since then. Negative once the claim has expired.
    [[nodiscard]] std::chrono::nanoseconds remaining() const { return held_.remaining(queue_.time().steady()); }

    /// Completes the message: it is not delivered again. Succeeds even if a response was lost, provided that the
    /// stored rows show that the message was completed under this claim.
    [[nodiscard]] result<void> complete() { return queue_.complete(held_); }
    /// Extends the claim to `visibility` from now; by default `queue_options::visibility`.
    [[nodiscard]] result<void> renew(std::chrono::nanoseconds visibility) { return queue_.renew(held_, visibility); }
    [[nodiscard]] result<void> renew() { return renew(queue_.options().visibility); }
    /// Releases the claim: the message can be claimed again after the delay.
    [[nodiscard]] result<void> release(std::chrono::nanoseconds delay = {}) { return give_back({}, delay); }
    /// The reason of the last `fail` of this message; empty if there was none. Cost: one request, or none for a message
    /// of Queue Storage.
    [[nodiscard]] result<std::string> reason() const { return queue_.reason(held_); }
    /// Releases the claim and stores the reason, which `reason` and a dead letter return.
    [[nodiscard]] result<void> fail(std::string_view why, std::chrono::nanoseconds delay = {}) {
        return give_back(why, delay);
    }

private:
    friend struct detail::claimed_access;
    using receipt = typename Core::receipt_type;

    claimed(Core queue, T message, receipt held)
        : queue_(std::move(queue)), message_(std::move(message)), held_(std::move(held)) {}

    [[nodiscard]] result<void> give_back(std::string_view why, std::chrono::nanoseconds delay) {
        auto given = queue_.give_back(held_, why, delay);
        held_.spent = held_.spent || given.has_value();
        return given;
    }

    Core queue_;
    T message_;
    receipt held_;
};

namespace detail {

/// Makes claimed messages and gives access to their receipts.
struct claimed_access {
    template <mapped_entity T, class Core>
    [[nodiscard]] static claimed<T, Core> make(Core queue, T message, typename Core::receipt_type held) {
        return claimed<T, Core>{std::move(queue), std::move(message), std::move(held)};
    }
    template <mapped_entity T, class Core>
    [[nodiscard]] static typename Core::receipt_type& receipt_of(claimed<T, Core>& item) noexcept {
        return item.held_;
    }
    template <mapped_entity T, class Core>
    [[nodiscard]] static Core const& queue_of(claimed<T, Core> const& item) noexcept {
        return item.queue_;
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
