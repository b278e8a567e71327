// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/idempotency.hpp>
#include <entitable/work/messaging/lease_renewal.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL renewal::renewal(queue_core queue, receipt& held)
    : queue_(std::move(queue)),
      held_(&held),
      due_(held.responded_at +
          std::chrono::duration_cast<steady_time::duration>(
              std::chrono::nanoseconds{(held.visible_at.ticks - held.told.ticks) * 50})),
      attempts_{queue_.options().max_attempts, queue_.options().delays},
      write_{queue_.table().name(), {}},
      look_{query_entities{
          queue_.table().name(), {key_interval::only(held.lane), key_interval::only(held.key)}, {}, {}, 1, {}}} {
    if (held.spent) {
        failure ended = receipt_is_spent();
        problem_ = ended.error();
    }
}

ENTITABLE_DECL operation_step renewal::next(std::size_t place, steady_time now) {
    looking_ = looking_ || (!asked_ && held_->version.empty()); // after a write that was settled
    if (looking_) { return {look_.request(), due_, place, wait_cause::back_off}; }
    if (!asked_) {
        asked_ = true;
        until_ = {held_->store_time((std::max)(now, due_)).ticks + queue_.options().visibility.count() / 100};
        row_builder made{held_->lane, held_->key};
        made.add(queue_property::visible_at, value_view{until_});
        write_.change = mutation::merge(made.build(), held_->version);
    }
    return {write_, due_, place, wait_cause::back_off};
}

ENTITABLE_DECL void renewal::again(error const& refused, steady_time now) {
    if ((!worth_retrying(refused) && refused.effect == effect::none) || attempts_.is_last()) {
        problem_ = refused;
    } else {
        due_ = attempts_.next(queue_.random().unit(), now);
    }
}

ENTITABLE_DECL void renewal::answer(result<write_entity::response> answered, steady_time now) {
    asked_ = false;
    if (answered) {
        held_->version = std::move(answered->etag);
        held_->visible_at = until_;
        attempts_.restart();
        due_ = now + std::chrono::duration_cast<steady_time::duration>(queue_.options().visibility / 2);
        return;
    }
    error const& refused = answered.error();
    if (was_beaten(refused, rival_change::changed_or_removed)) {
        looking_ = true; // immediately: an earlier renewal may have arrived late
        due_ = now;
        return;
    }
    looking_ = refused.effect == effect::unknown;
    again(refused, now);
}

ENTITABLE_DECL void renewal::answer(result<query_entities::response> answered, steady_time now) {
    auto const found = look_.take(std::move(answered));
    if (!found) {
        again(found.error(), now);
        return;
    }
    if (found->rows.empty() && look_.more()) { return; }
    look_.restart();
    looking_ = false;
    if (found->rows.empty() || !queue_core::adopt(*held_, found->rows[0])) {
        held_->spent = true;
        failure lost = receipt_is_lost();
        problem_ = lost.error();
        return;
    }
    due_ = now; // renews again, under the receipt that was read
}

} // namespace detail
ENTITABLE_END_NAMESPACE
