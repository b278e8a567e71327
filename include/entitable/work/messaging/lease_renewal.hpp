// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `renew_lease`: renewing a claimed message as an operation, which a program drives concurrently with its work. There is no hidden thread.
///
///     auto both = renew_lease(*item, entitable::single_request{insert}); // an operation that renews between the steps of another operation
///     auto ended = run(both, context, time, store);

#include <entitable/core/request/operation.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/work/messaging/claimed.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The renewals of one message. Refers to the receipt, which no other code may use at the same time.
class renewal {
public:
    renewal(queue_core queue, receipt& held);

    /// Returns the time of the next request: after half of the claim's remaining time; earlier if a response lacked the time.
    [[nodiscard]] steady_time due() const noexcept { return due_; }
    /// The error that ended the renewals: the message is lost, or the store does not respond.
    [[nodiscard]] error const* problem() const noexcept { return problem_ ? &*problem_ : nullptr; }

    [[nodiscard]] operation_step next(std::size_t place, steady_time now);
    void answer(result<write_entity::response> answered, steady_time now);
    void answer(result<query_entities::response> answered, steady_time now);

private:
    void again(error const& refused, steady_time now);

    queue_core queue_;
    receipt* held_;
    steady_time due_;
    date_time until_{};
    bool asked_{};        ///< the request is built, and further calls of `next` return it unchanged
    bool looking_{};      ///< the next request determines which worker holds the message
    contention attempts_; ///< of a renewal
    write_entity write_;
    page_cursor<query_entities> look_;
    std::optional<error> problem_;
};

/// Work that has no steps and never ends.
class no_work {
public:
    [[nodiscard]] operation_step next() const noexcept {
        return problem_ ? operation_step{} : operation_step{never_, (steady_time::max)()};
    }
    void answer(result<get_entity::response> const&, steady_time) noexcept {}
    void abandon(error const& reason) { problem_ = reason; }
    [[nodiscard]] result<void> finish() const { return failure{*problem_}; }

private:
    std::optional<error> problem_;
    get_entity never_{};
};

template <class Work, class Response>
concept takes_response =
    requires(Work& work, result<Response> answered, steady_time now) { work.answer(std::move(answered), now); };

} // namespace detail

/// An operation and, between its steps, the renewals of a message. Returns the result of the operation. If the message is lost or cannot be
/// renewed, the operation is abandoned with ReceiptLost or the store's error.
///
/// Thread safety: one thread at a time.
template <operation Work>
class lease_renewal {
public:
    /// Made by `renew_lease`.
    lease_renewal(detail::queue_core queue, detail::receipt& held, Work work, std::size_t place)
        : renewal_(std::move(queue), held), work_(std::move(work)), place_(place) {
        if (error const* const problem = renewal_.problem()) { work_.abandon(*problem); }
    }

    /// Returns the renewal if it is due before the next step of the work; otherwise returns that next step.
    [[nodiscard]] operation_step next() {
        operation_step const step = work_.next();
        renews_ = !step.done() && renewal_.due() <= (std::max)(step.not_before, now_);
        return renews_ ? renewal_.next(place_, now_) : step;
    }
    /// Takes the response to the last step.
    template <class Response>
        requires std::same_as<Response, write_entity::response> || std::same_as<Response, query_entities::response> ||
        detail::takes_response<Work, Response>
    void answer(result<Response> answered, steady_time now) {
        now_ = now;
        if constexpr (requires { renewal_.answer(std::move(answered), now); }) {
            if (renews_) {
                renewal_.answer(std::move(answered), now);
                if (error const* const problem = renewal_.problem()) { work_.abandon(*problem); }
                return;
            }
        }
        if constexpr (detail::takes_response<Work, Response>) { work_.answer(std::move(answered), now); }
    }
    /// Ends the work; the claim remains valid until it expires.
    void abandon(error const& reason) { work_.abandon(reason); }
    /// The result of the work.
    [[nodiscard]] auto finish() { return work_.finish(); }

private:
    detail::renewal renewal_;
    Work work_;
    std::size_t place_;
    steady_time now_{(steady_time::min)()};
    bool renews_{};
};

/// Work that renews the message between its steps: whenever half of the claim has passed, it extends the claim by
/// `queue_options::visibility` from that time. A step is not interrupted, and a request that takes longer than the
/// claim loses the message. `place`: index of the driver's transport for the queue's store. The item must not be moved
/// or used until the operation has ended.
template <mapped_entity T, operation Work>
[[nodiscard]] lease_renewal<Work> renew_lease(claimed<T>& item, Work work, std::size_t place = 0) {
    return {detail::claimed_access::queue_of(item), detail::claimed_access::receipt_of(item), std::move(work), place};
}
/// Only renews, on a separate thread, until the driver's call is cancelled or its deadline passes, or the message is
/// lost or cannot be renewed. The result is the error that ended the renewals.
template <mapped_entity T>
[[nodiscard]] lease_renewal<detail::no_work> renew_lease(claimed<T>& item) {
    return renew_lease(item, detail::no_work{});
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/messaging/impl/lease_renewal.ipp>
#endif
