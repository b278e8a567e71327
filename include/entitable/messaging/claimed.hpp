// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `claimed<T>`: a message in the hands of a worker, and the receipt of it.

#include <entitable/mapping/codec.hpp>
#include <entitable/messaging/detail/queue_core.hpp>

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

/// A message that was claimed. Moved, never copied: its receipt is the ETag of the stored row, and good for one end: `complete`, `release` or
/// `fail`. Without one of these the message comes again when the claim is over. One thread at a time.
///
/// ReceiptLost: the claim was over, and another worker has the message, or has done it. Nothing was changed then. What has ended, or was
/// moved from, answers InvalidInput. `Core` is the kind of queue that it was claimed from.
template <mapped_entity T, class Core = detail::queue_core>
class [[nodiscard]] claimed {
public:
    using value_type = T; ///< the message

    claimed(claimed&& other) noexcept
        : queue_(other.queue_), message_(std::move(other.message_)), held_(std::move(other.held_)) {
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
    } ///< how often it was claimed, from 1
    /// How long it is this worker's, by the clock of the store, one second less; by the monotonic clock of this program from the last answer on.
    [[nodiscard]] std::chrono::nanoseconds remaining() const { return held_.remaining(queue_.time().steady()); }

    /// It is done, and comes no more. Also success where an answer was lost and it is found to be done by this very claim.
    [[nodiscard]] result<void> complete() { return queue_.complete(held_); }
    /// It is this worker's for so long from now on.
    [[nodiscard]] result<void> renew(std::chrono::nanoseconds visibility) { return queue_.renew(held_, visibility); }
    [[nodiscard]] result<void> renew() { return renew(queue_.options().visibility); }
    /// Gives it back: others see it after the delay.
    [[nodiscard]] result<void> release(std::chrono::nanoseconds delay = {}) { return give_back({}, delay); }
    /// What the last worker that failed has said; asks the store, but for a message of Queue Storage.
    [[nodiscard]] result<std::string> reason() const { return queue_.reason(held_); }
    /// Gives it back, and keeps the reason, which a dead letter tells.
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
    template <mapped_entity T>
    [[nodiscard]] static receipt& receipt_of(claimed<T>& item) noexcept {
        return item.held_;
    }
    template <mapped_entity T>
    [[nodiscard]] static queue_core const& queue_of(claimed<T> const& item) noexcept {
        return item.queue_;
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
