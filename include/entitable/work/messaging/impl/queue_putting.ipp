// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Enqueues messages, one by one or in groups.

#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/messaging/detail/queue_core.hpp>
#include <entitable/work/messaging/impl/queue_core.ipp>

#include <iterator>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<void> queue_core::check_room(row_view message) {
    constexpr std::size_t most_properties = 252 - 10; // leaves room for the properties of the queue and of dead letters
    constexpr std::size_t most_bytes = 1024 * 1024 - 16 * 1024; // leaves room for the longest reasons in UTF-16
    std::size_t const properties = property_cursor{message.payload}.left();
    if (properties > most_properties) {
        return failure{error_code::too_many_properties,
            text::joined({"the message has ", std::to_string(properties), " properties; the limit is ",
                std::to_string(most_properties), ", which leaves room for the properties of the queue"})};
    }
    if (message.payload.size() > most_bytes / 4 && service_size(message) > most_bytes) {
        return failure{error_code::entity_too_large,
            text::joined({"the message has ", std::to_string(service_size(message)),
                " bytes as the service counts them; the limit is ", std::to_string(most_bytes),
                ", which leaves room for the properties of the queue"})};
    }
    return {};
}

ENTITABLE_DECL result<date_time> queue_core::certain_time(enqueue_plan const& of) const {
    {
        std::lock_guard const lock{state().guard};
        store_clock const& clock = state().lane_states[of.lane_number].clock;
        if (clock.is_certain(time())) { return clock.now(time()); }
    }
    date_time told;
    ENTITABLE_CHECK(read(of.lane, text::joined({system_row::identity, of.id}), told));
    know_time(of.lane_number, told);
    return told;
}

ENTITABLE_DECL result<enqueue_plan> queue_core::plan(enqueue_options const& how) const {
    ENTITABLE_TRY(std::size_t const number, lanes());
    enqueue_plan made;
    made.id = how.id.empty() ? message_id() : how.id;
    made.lane_number = lane_of(made.id, number);
    made.lane = lane_key(made.lane_number);
    date_time from = store_time(made.lane_number); // independent of the clock of this program
    if (how.delay > std::chrono::nanoseconds{}) {
        ENTITABLE_TRY(from, certain_time(made));
        from.ticks += how.delay.count() / 100;
        made.visible_at = from;
    }
    made.key = message_key(from, made.id);
    return made;
}

ENTITABLE_DECL result<bool> queue_core::put(transact const& request, std::size_t lane) const {
    bool maybe = false;
    date_time told;
    for (contention sends = contend();;) {
        auto const answer = send(request, told);
        if (answer) {
            know_time(lane, told);
            return false;
        }
        error refused = answer.error();
        if (refused.code == error_code::entity_already_exists) {
            return !maybe; // returns success even if the message was completed since
        }
        maybe = maybe || refused.effect == effect::unknown;
        if ((refused.effect == effect::none && !worth_retrying(refused)) || !again(sends)) {
            refused.effect = maybe ? effect::unknown : effect::none;
            return failure{std::move(refused)};
        }
    }
}

/// The identity row of an id, with one property.
ENTITABLE_DECL row identity_row(
    std::string_view lane, std::string_view id, std::string_view property, value_view says) {
    return joined_row(lane, system_row::identity, id, {}, {{property, says}});
}

ENTITABLE_DECL result<enqueued> queue_core::enqueue(enqueue_plan const& at, row_view message) const {
    ENTITABLE_CHECK(check_room(message));
    transact request{table().name(), {}};
    request.changes.reserve(2);
    request.changes.push_back(mutation::insert(identity_row(at.lane, at.id, queue_property::key, value_view{at.key})));
    request.changes.push_back(mutation::insert(stored_message(at.lane, at.key, message, at.visible_at)));
    ENTITABLE_TRY(bool const there, put(request, at.lane_number));
    return enqueued{at.id, there};
}

ENTITABLE_DECL result<std::vector<enqueued>> queue_core::enqueue_group(std::vector<row> const& messages) const {
    constexpr std::size_t group = 32;
    ENTITABLE_TRY(std::size_t const number, lanes());
    for (row const& each : messages) { ENTITABLE_CHECK(check_room(each)); }
    bool const together = state().format.load(memory_order::relaxed) >= 2; // format 1 has no groups
    result<std::vector<enqueued>> all{std::in_place};
    all->reserve(messages.size());
    for (std::size_t first = 0; first < messages.size();) {
        std::size_t const lane_number = static_cast<std::size_t>(random().bits() % number);
        std::string const lane = lane_key(lane_number);
        std::string const head = message_key(store_time(lane_number), {});
        std::string const group_id = message_id();
        transact request{table().name(), {}};
        request.changes.reserve(2 * group + 1);
        if (together) {
            request.changes.push_back(
                mutation::insert(identity_row(lane, group_id, queue_property::state, value_view{"group"})));
        }
        std::string key;
        std::size_t bytes = 0;
        std::size_t end = first;
        for (; end < messages.size() && end - first < group; ++end) {
            bytes += messages[end].payload().size();
            if (end > first && bytes > most_bytes_together) { break; }
            std::string id = together ? id_in_group(group_id, end - first) : id_in_lane(lane_number, number);
            key.assign(head).append(id);
            if (!together) {
                request.changes.push_back(
                    mutation::insert(identity_row(lane, id, queue_property::key, value_view{key})));
            }
            request.changes.push_back(mutation::insert(stored_message(lane, key, messages[end])));
            all->push_back({std::move(id), false});
        }
        if (auto sent = put(request, lane_number); !sent) {
            failure stopped = std::move(sent).as_failure();
            stopped.error().effect = first > 0 ? effect::unknown : stopped.error().effect;
            return stopped;
        }
        first = end;
    }
    return all;
}

ENTITABLE_DECL std::string queue_core::id_in_lane(std::size_t lane, std::size_t lanes) const {
    std::string id = message_id();
    while (lane_of(id, lanes) != lane) {
        id = message_id(); // the id is not used yet: draws again until its lane matches
    }
    return id;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
