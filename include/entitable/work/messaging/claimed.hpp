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

/// A message that was claimed. Moved, never copied: its receipt is the ETag of the stored row, and serves for one end: `complete`, `release`
/// or `fail`. Without one of these the message is delivered again when the claim is over.
///
/// Errors: ReceiptLost where the claim was over and another worker has the message, or has completed it: nothing was changed. InvalidInput
/// where this object has ended, or was moved from. Those of the store. Thread safety: one thread at a time. `Core` is the kind of queue that
/// it was claimed from.
template <mapped_entity T, class Core = detail::queue_core>
class [[nodiscard]] claimed {
public:
    using value_type = T; ///< the message

    claimed(claimed&& other) noexcept
        : queue_(other.queue_), // NOLINT: a handle that both keep
          message_(std::move(other.message_)),
          held_(std::move(other.held_)) {
        other.held_.spent = true;
    } ///< leaves one that has ended
    /// Leaves one that has ended.
    claimed& operator=(claimed&& other) noexcept {
        queue_ = other.queue_;
        message_ = std::move(other.message_);
        held_ = std::move(other.held_);
        other.held_.spent = true;
        return *this;
    }
    ~claimed() = default;

    [[nodiscard]] T const& message() const noexcept { return message_; }      ///< what is to be done
    [[nodiscard]] std::string_view id() const noexcept { return held_.id(); } ///< its name
    [[nodiscard]] std::uint32_t deliveries() const noexcept {
        return held_.deliveries;
    } ///< how often it was claimed, from 1; of a saga: since the last step that was recorded
    /// How much of the claim is left, less one second: by the clock of the store in the last answer, and the monotonic clock of this program
    /// since then. Negative when it is over.
    [[nodiscard]] std::chrono::nanoseconds remaining() const { return held_.remaining(queue_.time().steady()); }

    /// Ends the message: it is done, and not delivered again. Also success where an answer was lost and the message turns out to be completed
    /// under this claim.
    [[nodiscard]] result<void> complete() { return queue_.complete(held_); }
    /// Extends the claim to that long from now; by default `queue_options::visibility`.
    [[nodiscard]] result<void> renew(std::chrono::nanoseconds visibility) { return queue_.renew(held_, visibility); }
    [[nodiscard]] result<void> renew() { return renew(queue_.options().visibility); }
    /// Gives it back: it can be claimed again after the delay.
    [[nodiscard]] result<void> release(std::chrono::nanoseconds delay = {}) { return give_back({}, delay); }
    /// The reason that the last `fail` of this message gave; empty where there is none. Cost: one request, none for a message of Queue Storage.
    [[nodiscard]] result<std::string> reason() const { return queue_.reason(held_); }
    /// Gives it back, and stores the reason, which `reason` and a dead letter have.
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

/// What makes claimed messages, and what works under their receipts.
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
