// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Ends a message: releases it, or completes it.

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/messaging/detail/queue_core.hpp>
#include <entitable/work/messaging/impl/queue_core.ipp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::size_t most_of_a_reason = 4000; // bytes

ENTITABLE_DECL result<void> queue_core::give_back(
    receipt& held, std::string_view why, std::chrono::nanoseconds delay) const {
    if (held.spent) { return receipt_is_spent(); }
    forget_spares(held.lane); // the released message may precede them
    std::string to;
    bool maybe = false;
    for (contention sends = contend();;) {
        date_time told;
        ENTITABLE_TRY(auto const stored, read(held.lane, held.key, told));
        if (!stored || !adopt(held, *stored)) {
            if (maybe) { // the last request may have arrived late
                ENTITABLE_TRY(auto const moved, read(held.lane, to, told));
                if (moved && text_in(*moved, queue_property::claim) == held.claim) { return {}; }
            }
            return receipt_is_lost(held);
        }
        held.told = told;
        held.responded_at = time().steady();
        date_time const from{told.ticks + delay.count() / 100};
        if (to.empty()) { // without a delay the message returns to its original position
            date_time const first = first_time_of(*stored);
            to = message_key(delay > std::chrono::nanoseconds{} || from.ticks < first.ticks ? from : first, held.id());
        }
        row_builder changes{held.lane, to};
        changes.add(queue_property::visible_at, value_view{from});
        if (!why.empty()) {
            std::string_view const part = why.substr(0, most_of_a_reason);
            changes.add(queue_property::why, value_view{part.substr(0, text::valid_utf8_prefix(part))});
        }
        row made = changed_message(to, *stored, changes.build());
        transact request{table().name(), {}};
        if (to == held.key) {
            request.changes.push_back(mutation::replace(std::move(made), held.version));
        } else {
            request.changes.push_back(mutation::remove(message_keys(held.lane, held.key), held.version));
            request.changes.push_back(mutation::insert(std::move(made)));
        }
        auto const answer = send(request, told);
        if (answer) { return {}; }
        error refused = answer.error();
        bool const gone = was_beaten(refused, rival_change::changed_or_removed);
        maybe = maybe || refused.effect == effect::unknown;
        if ((refused.effect == effect::none && !gone && !worth_retrying(refused)) || !again(sends)) {
            refused.effect = maybe ? effect::unknown : effect::none;
            return failure{std::move(refused)};
        }
    }
}

/// The row that a claim marks as completed: the identity of a message, or the mark of a group.
ENTITABLE_DECL row done_row(
    std::string_view lane, std::string_view kind, std::string_view key, std::string_view claim) {
    return joined_row(
        lane, kind, key, {}, {{queue_property::state, value_view{"done"}}, {queue_property::claim, value_view{claim}}});
}
/// Marks the identity of a message as completed. Creates the identity for a message of a group, which does not have one
/// yet.
ENTITABLE_DECL mutation done_mark(receipt const& held) {
    row made = done_row(held.lane, system_row::identity, held.id(), held.claim);
    return is_id_in_group(held.id()) ? mutation::insert_or_merge(std::move(made))
                                     : mutation::merge(std::move(made), any_etag);
}

ENTITABLE_DECL result<bool> queue_core::is_done(receipt const& held, std::string_view group) const {
    date_time told;
    ENTITABLE_TRY(auto const own, read(held.lane, text::joined({system_row::identity, held.id()}), told));
    if (own && text_in(*own, queue_property::state) == "done" && text_in(*own, queue_property::claim) == held.claim) {
        return true;
    }
    if (group.empty()) { return false; }
    ENTITABLE_TRY(auto const mark, read(held.lane, group, told));
    return mark.has_value();
}

ENTITABLE_DECL result<void> queue_core::complete(receipt& held, std::string_view group) const {
    if (held.spent) { return receipt_is_spent(); }
    bool maybe = false;
    for (contention sends = contend();;) {
        ENTITABLE_CHECK(know_version(held));
        transact request{table().name(), {}};
        request.changes.reserve(2);
        request.changes.push_back(mutation::remove(message_keys(held.lane, held.key), held.version));
        request.changes.push_back(done_mark(held));
        date_time told;
        auto const answer = send(request, told);
        if (answer) {
            held.spent = true;
            return {};
        }
        error refused = answer.error();
        maybe = maybe || refused.effect == effect::unknown;
        bool const gone = refused.code == error_code::resource_not_found;
        if (was_beaten(refused, rival_change::changed_or_removed)) {
            bool mine = false;
            if (!gone) { ENTITABLE_TRY(mine, look(held)); }
            if (!mine) { // the message does not exist: a late request of this claim may have removed it
                ENTITABLE_TRY(bool const done, is_done(held, group));
                held.spent = true;
                return done ? result<void>{} : result<void>{receipt_is_lost()};
            }
        } else if (refused.effect == effect::none && !worth_retrying(refused)) {
            refused.effect = maybe ? effect::unknown : effect::none;
            return failure{std::move(refused)};
        }
        if (!again(sends)) {
            refused.effect = maybe ? effect::unknown : effect::none;
            return failure{std::move(refused)};
        }
    }
}

ENTITABLE_DECL result<std::size_t> queue_core::complete_group(std::vector<receipt*> const& all) const {
    constexpr std::size_t group = 50; // each message needs one or two changes
    std::size_t done = 0;
    for (std::size_t first = 0; first < all.size();) {
        transact request{table().name(), {}};
        request.changes.reserve((std::min)(2 * group, 2 * (all.size() - first)));
        std::size_t end = first;
        std::string mark;
        for (; end < all.size() && end - first < group && !all[end]->spent && all[end]->lane == all[first]->lane;
            ++end) {
            receipt const& each = *all[end];
            request.changes.push_back(mutation::remove(message_keys(each.lane, each.key), each.version));
            if (!is_id_in_group(each.id())) {
                request.changes.push_back(done_mark(each));
            } else if (mark.empty()) { // there is one mark for the whole group
                mark = text::joined({system_row::identity, fresh_id()});
            }
        }
        if (!mark.empty()) {
            request.changes.push_back(mutation::insert(done_row(all[first]->lane, {}, mark, all[first]->claim)));
        }
        date_time told;
        bool const as_one = end - first > 1 && send(request, told).has_value();
        end = (std::max)(end, first + 1);
        for (; first < end; ++first) { // completes them one by one if the transaction failed or its outcome is unknown
            if (as_one) {
                all[first]->spent = true;
            } else if (auto one = complete(*all[first], mark); !one) {
                if (one.error().code != error_code::receipt_lost) { return std::move(one).as_failure(); }
                continue;
            }
            ++done;
        }
    }
    return done;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
