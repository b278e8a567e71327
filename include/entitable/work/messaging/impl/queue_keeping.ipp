// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/messaging/detail/queue_core.hpp>
#include <entitable/work/messaging/impl/queue_core.ipp>

#include <algorithm>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<void> queue_core::for_each_row(
    std::string_view prefix, function_ref<void(row_view, date_time)> visit) const {
    ENTITABLE_TRY(std::size_t const number, lanes());
    for (std::size_t lane = 0; lane < number; ++lane) {
        contention sends = contend();
        ENTITABLE_CHECK(for_each_in(lane_key(lane), rows_of_kind(prefix), sends, visit));
    }
    return {};
}

ENTITABLE_DECL result<bool> queue_core::is_still_dead(row_view dead, etag& version) const {
    date_time told;
    ENTITABLE_TRY(auto const stored, read(std::string{dead.partition_key}, dead.row_key, told));
    if (!stored || text_in(*stored, queue_property::claim) != text_in(dead, queue_property::claim)) { return false; }
    etag const now = stored->view().etag();
    return std::exchange(version, now) != now;
}

ENTITABLE_DECL result<void> queue_core::requeue(row_view dead, etag version) const {
    std::string_view const key = text_in(dead, queue_property::key);
    if (key.empty()) { return failure{error_code::row_malformed, "the dead letter lacks the key of its message"}; }
    row_builder back = moved_message(key, dead, true);
    if (!dead.find(queue_property::step)) { // the message was claimed before: the first step of a saga may have run
        back.add(queue_property::step, value_view{std::int32_t{0}});
    }
    transact request{table().name(),
        {mutation::remove(row_builder{dead.partition_key, dead.row_key}.build(), version),
            mutation::insert(back.build())}};
    return end_dead(dead, version, std::move(request), [&]() -> result<bool> {
        // Unless the message was purged, this program or another program has requeued it.
        date_time told;
        ENTITABLE_TRY(auto const identity,
            read(std::string{dead.partition_key}, text::joined({system_row::identity, id_of_message(key)}), told));
        return !identity || text_in(*identity, queue_property::state) != "purged";
    });
}

ENTITABLE_DECL result<void> queue_core::purge(row_view dead, etag version) const {
    std::string_view const id = id_of_message(text_in(dead, queue_property::key));
    std::string const identity_key = text::joined({system_row::identity, id});
    row_builder identity{dead.partition_key, identity_key};
    identity.add(queue_property::state, value_view{"purged"});
    transact request{table().name(),
        {mutation::remove(row_builder{dead.partition_key, dead.row_key}.build(), version),
            mutation::insert_or_merge(identity.build())}};
    return end_dead(dead, version, std::move(request), [&]() -> result<bool> {
        date_time told;
        ENTITABLE_TRY(auto const found, read(std::string{dead.partition_key}, identity_key, told));
        bool const swept = !found && !is_id_in_group(id);
        return swept || (found && text_in(*found, queue_property::state) == "purged");
    });
}

ENTITABLE_DECL result<void> queue_core::end_dead(
    row_view dead, etag version, transact request, function_ref<result<bool>()> was_applied) const {
    bool maybe = false;
    date_time told;
    for (contention sends = contend();;) {
        auto const answer = send(request, told);
        if (answer) { return {}; }
        error refused = answer.error();
        bool still = false; // its lane may have moved to another store, where its ETag differs
        if (was_beaten(refused, rival_change::changed_or_removed)) {
            ENTITABLE_TRY(still, is_still_dead(dead, version));
            request.changes[0].condition = version;
            bool applied = false;
            if (!still && maybe) { ENTITABLE_TRY(applied, was_applied()); }
            if (applied) { return {}; }
            if (!still) {
                return failure{error_code::receipt_lost, "another program has requeued or purged the dead letter"};
            }
        }
        maybe = maybe || refused.effect == effect::unknown;
        if ((refused.effect == effect::none && !still && !worth_retrying(refused)) || !again(sends)) {
            refused.effect = maybe ? effect::unknown : effect::none;
            return failure{std::move(refused)};
        }
    }
}

ENTITABLE_DECL result<std::size_t> queue_core::sweep(std::chrono::nanoseconds window) const {
    std::vector<row> old;
    ENTITABLE_CHECK(for_each_row(system_row::identity, [&](row_view each, date_time told) {
        // The identity was marked in the transaction that removed the message: no other row of the message exists.
        bool const over = each.timestamp().ticks + window.count() / 100 < told.ticks;
        if (over && !text_in(each, queue_property::state).empty()) { old.emplace_back(each); }
    }));
    std::size_t removed = 0;
    for (row const& each : old) {
        date_time told;
        auto const answer =
            send(write_entity{table().name(),
                     mutation::remove(row_builder{each.partition_key(), each.row_key()}.build(), each.view().etag())},
                told);
        if (!answer && !was_beaten(answer.error(), rival_change::changed_or_removed)) {
            return failure{answer.error()};
        }
        removed += answer ? 1U : 0U;
    }
    return removed;
}

ENTITABLE_DECL std::string queue_core::outbox_prefix() const {
    return text::joined({system_row::outbox, table().name(), "!"});
}

ENTITABLE_DECL result<row> queue_core::outbox_row(
    std::string_view partition, std::string_view id, row_view message) const {
    if (!state_) { return moved_from("queue"); }
    if (partition.empty()) {
        return failure{error_code::invalid_input,
            "a batch must have a change before its first message: the change determines the partition of the outbox "
            "row"};
    }
    std::string const key = message_key(time().now(), id);
    row_builder made = message_row(partition, text::joined({outbox_prefix(), id}), message);
    made.add(queue_property::key, value_view{key});
    return made.build();
}

ENTITABLE_DECL result<std::size_t> queue_core::relay(
    any_store const& from, std::string const& table_name, std::optional<std::string> const& partition) const {
    ENTITABLE_TRY(std::size_t const number, lanes());
    std::string const prefix = outbox_prefix();
    query_entities asked{table_name, {}, {}, {}, 1000, {}};
    asked.range.row = rows_of_kind(prefix);
    if (partition) { asked.range.partition = key_interval::only(*partition); }
    std::size_t relayed = 0;
    page_cursor pages{std::move(asked)};
    for (contention sends = contend(); pages.more();) {
        date_time told;
        auto page = pages.take(send_to(from, pages.request(), told));
        if (!page) {
            if (!worth_retrying(page.error()) || !again(sends)) { return std::move(page).as_failure(); }
            continue;
        }
        for (row_view const each : page->rows) {
            std::string_view const key = text_in(each, queue_property::key);
            std::string_view const id = id_of_message(key);
            if (id.empty()) { return failure{error_code::row_malformed, "an outbox row lacks the key of its message"}; }
            std::size_t const lane = lane_of(id, number);
            // The time comes from the program that wrote the row, whose clock may be fast.
            date_time const first{(std::min)(time_of_message(key).ticks, store_time(lane).ticks)};
            enqueue_plan const at{std::string{id}, lane, lane_key(lane), message_key(first, id), {}};
            row const message = entity_row(each);
            ENTITABLE_CHECK(enqueue(at, message));
            auto const removed = send_to(from,
                write_entity{
                    table_name, mutation::remove(row_builder{each.partition_key, each.row_key}.build(), each.etag())},
                told);
            // Another relay may have moved the message. A message that still exists is inserted again, which has no effect.
            if (removed) { ++relayed; }
        }
    }
    return relayed;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
