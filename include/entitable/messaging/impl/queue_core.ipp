// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/messaging/detail/queue_core.hpp>
#include <entitable/request/idempotency.hpp>

#include <algorithm>
#include <iterator>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL queue_core::shared_state& queue_core::absent_state() {
    static shared<shared_state> const absent =
        shared<shared_state>::make(moved_from_transport("queue"), std::string{}, queue_options{});
    return *absent;
}
ENTITABLE_DECL queue_core::shared_state::shared_state(any_transport through, std::string name, queue_options how)
    : table(std::move(through), std::move(name), how.calls), options(std::move(how)), ids(options.seed) {}

ENTITABLE_DECL queue_core::queue_core(any_transport through, std::string name, queue_options options)
    : state_(shared<shared_state>::make(std::move(through), std::move(name), std::move(options))) {}

ENTITABLE_DECL result<void> check_queue_options(queue_options const& options) {
    if (options.visibility < std::chrono::seconds{2} || options.visibility > std::chrono::hours{7 * 24}) {
        return failure{error_code::out_of_range_input, "a claim of a message holds for 2 seconds to 7 days"};
    }
    ENTITABLE_CHECK(options.polling.validate());
    return options.delays.validate();
}
ENTITABLE_DECL bool wait_before_sending(queue_options const& options, random_source& random, std::uint32_t& attempt) {
    if (++attempt >= options.max_attempts) {
        return false;
    }
    options.time->wait_until(options.time->steady() +
        std::chrono::duration_cast<steady_time::duration>(options.delays.delay(attempt, random.unit())));
    return true;
}
ENTITABLE_DECL failure receipt_is_lost() {
    return failure{error_code::receipt_lost, "the message is in other hands by now, or done"};
}
ENTITABLE_DECL failure receipt_is_spent() {
    return failure{error_code::invalid_input, "the receipt was used up: the message was completed, given back or lost"};
}

ENTITABLE_DECL result<void> queue_core::check_options() const {
    ENTITABLE_CHECK(check_queue_options(options()));
    if (options().lanes < 1 || options().lanes > 1000) {
        return failure{error_code::out_of_range_input, "a queue has 1 to 1000 lanes"};
    }
    return {};
}

ENTITABLE_DECL result<bool> queue_core::create() const {
    ENTITABLE_CHECK(check_options());
    ENTITABLE_TRY(bool const made, table().create_if_absent());
    row_builder header{system_row::queue, system_row::queue};
    header.add(queue_property::lanes, value_view{static_cast<std::int32_t>(options().lanes)});
    write_entity const request{table().name(), mutation::insert(header.build())};
    date_time told;
    for (std::uint32_t attempt = 0;;) {
        auto const written = send(request, told);
        if (written || written.error().code == error_code::entity_already_exists) {
            break;
        }
        if ((written.error().effect == effect::none && !worth_retrying(written.error())) || !again(attempt)) {
            return failure{written.error()};
        }
    }
    ENTITABLE_CHECK(lanes());
    return made;
}

ENTITABLE_DECL result<std::size_t> queue_core::lanes() const {
    if (std::size_t const known = state().lanes.load(memory_order::acquire); known != 0) {
        return known;
    }
    ENTITABLE_CHECK(check_options());
    date_time told;
    ENTITABLE_TRY(auto const header, read(std::string{system_row::queue}, system_row::queue, told));
    std::int32_t const number = header ? int32_in(*header, queue_property::lanes) : 0;
    if (number < 1 || number > 1000) {
        return failure{header ? error_code::row_malformed : error_code::resource_not_found,
            text::joined({"the queue ", table().name(), header ? " is not one of this version" : " was not created"})};
    }
    auto const found = static_cast<std::size_t>(number);
    std::lock_guard const lock{state().guard};
    if (state().cursors.empty()) {
        state().cursors.resize(found);
        state().next_lane = static_cast<std::size_t>(random().bits() % found);
    }
    state().lanes.store(found, memory_order::release);
    return found;
}

ENTITABLE_DECL result<std::optional<row>> queue_core::read(
    std::string const& lane, std::string_view key, date_time& told) const {
    query_entities asked{
        table().name(), {key_interval::only(lane), key_interval::only(std::string{key})}, {}, {}, 1, {}};
    for (std::uint32_t attempt = 0;;) {
        auto page = send(asked, told);
        if (page && !page->rows.empty()) {
            return std::optional<row>{row{page->rows[0]}};
        }
        if (page && !page->continuation) {
            return std::optional<row>{};
        }
        if (page) {
            asked.continuation = std::move(page->continuation);
            continue;
        }
        if (!worth_retrying(page.error()) || !again(attempt)) {
            return std::move(page).as_failure();
        }
    }
}

// ---- putting in ----

ENTITABLE_DECL result<enqueue_plan> queue_core::plan(enqueue_options const& how) const {
    ENTITABLE_TRY(std::size_t const number, lanes());
    enqueue_plan made;
    made.id = how.id.empty() ? message_id() : how.id;
    made.lane = lane_key(lane_of(made.id, number));
    made.key = message_key(time().now(), made.id);
    if (how.delay > std::chrono::nanoseconds{}) {
        date_time told; // what the clock of this program says does not matter
        ENTITABLE_CHECK(read(std::string{system_row::queue}, system_row::queue, told));
        made.visible_at = {told.ticks + how.delay.count() / 100};
    }
    return made;
}

ENTITABLE_DECL result<enqueued> queue_core::enqueue(enqueue_plan const& at, row_view message) const {
    row_builder identity{at.lane, text::joined({system_row::identity, at.id})};
    identity.add(queue_property::key, value_view{at.key});
    row_builder made = message_row(at.lane, at.key, message);
    if (at.visible_at != date_time{}) {
        made.add(queue_property::visible_at, value_view{at.visible_at});
    }
    transact const request{table().name(), {mutation::insert(identity.build()), mutation::insert(made.build())}};
    bool maybe = false;
    date_time told;
    for (std::uint32_t attempt = 0;;) {
        auto const answer = send(request, told);
        if (answer) {
            return enqueued{at.id, false};
        }
        error refused = answer.error();
        if (refused.code == error_code::entity_already_exists) {
            return enqueued{at.id, !maybe}; // whatever has become of the message
        }
        maybe = maybe || refused.effect == effect::unknown;
        if ((refused.effect == effect::none && !worth_retrying(refused)) || !again(attempt)) {
            refused.effect = maybe ? effect::unknown : effect::none;
            return failure{std::move(refused)};
        }
    }
}

ENTITABLE_DECL result<std::vector<enqueued>> queue_core::enqueue_group(std::vector<row> const& messages) const {
    constexpr std::size_t group = 32;
    ENTITABLE_TRY(std::size_t const number, lanes());
    result<std::vector<enqueued>> all{std::in_place};
    for (std::size_t first = 0; first < messages.size(); first += group) {
        std::size_t const lane = static_cast<std::size_t>(random().bits() % number);
        std::string const lane_name = lane_key(lane);
        transact request{table().name(), {}};
        std::size_t const end = (std::min)(messages.size(), first + group);
        std::vector<enqueued> made;
        for (std::size_t index = first; index < end; ++index) {
            std::string id = message_id();
            while (lane_of(id, number) != lane) {
                id = message_id(); // nobody knows it yet: one whose lane is that of the others
            }
            std::string const key = message_key(time().now(), id);
            row_builder identity{lane_name, text::joined({system_row::identity, id})};
            identity.add(queue_property::key, value_view{key});
            request.changes.push_back(mutation::insert(identity.build()));
            request.changes.push_back(mutation::insert(message_row(lane_name, key, messages[index]).build()));
            made.push_back({std::move(id), false});
        }
        date_time told;
        bool maybe = false;
        for (std::uint32_t attempt = 0;;) {
            auto const answer = send(request, told);
            if (answer || (maybe && answer.error().code == error_code::entity_already_exists)) {
                break;
            }
            error refused = answer.error();
            maybe = maybe || refused.effect == effect::unknown;
            if ((refused.effect == effect::none && !worth_retrying(refused)) || !again(attempt)) {
                refused.effect = maybe || first > 0 ? effect::unknown : effect::none;
                return failure{std::move(refused)};
            }
        }
        all->insert(all->end(), std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
    }
    return all;
}

// ---- under a receipt ----

ENTITABLE_DECL bool queue_core::adopt(receipt& held, row_view stored) {
    if (text_in(stored, queue_property::claim) != held.claim) {
        return false;
    }
    held.version = stored.etag();
    held.step = int32_in(stored, queue_property::step);
    auto const steps = stored.find(queue_property::steps);
    held.steps = steps && steps->type() == edm_type::int64 ? steps->as_int64() : 0;
    held.visible_at = visible_at_of(stored);
    return true;
}

ENTITABLE_DECL result<bool> queue_core::look(receipt& held) const {
    date_time told;
    ENTITABLE_TRY(auto const stored, read(held.lane, held.key, told));
    if (!stored || !adopt(held, *stored)) {
        return false;
    }
    held.told = told;
    held.told_at = time().steady();
    return true;
}

ENTITABLE_DECL result<void> queue_core::know_version(receipt& held) const {
    if (held.version.empty()) {
        ENTITABLE_TRY(bool const mine, look(held));
        if (!mine) {
            held.spent = true;
            return receipt_is_lost();
        }
    }
    return {};
}

ENTITABLE_DECL result<std::string> queue_core::reason(receipt const& held) const {
    date_time told;
    ENTITABLE_TRY(auto const stored, read(held.lane, held.key, told));
    return stored ? std::string{text_in(*stored, queue_property::why)} : std::string{};
}

/// Refused: a receipt that is not good any more.
ENTITABLE_DECL failure receipt_is_lost(receipt& held) {
    held.spent = true;
    return receipt_is_lost();
}

ENTITABLE_DECL result<void> queue_core::write(
    receipt& held, function_ref<void(row_builder&)> properties, std::vector<mutation> const& beside) const {
    if (held.spent) {
        return receipt_is_spent();
    }
    bool maybe = false;
    for (std::uint32_t attempt = 0;;) {
        ENTITABLE_CHECK(know_version(held));
        row_builder made{held.lane, held.key};
        properties(made);
        date_time told;
        auto const answer = [&]() -> result<written> {
            if (beside.empty()) {
                return send(write_entity{table().name(), mutation::merge(made.build(), held.version)}, told);
            }
            transact request{table().name(), {mutation::merge(made.build(), held.version)}};
            request.changes.insert(request.changes.end(), beside.begin(), beside.end());
            ENTITABLE_TRY(auto all, send(request, told));
            return std::move(all.results[0]);
        }();
        if (answer) {
            held.version = answer->etag;
            held.told = told;
            held.told_at = time().steady();
            return {};
        }
        error refused = answer.error();
        bool const first_refused = beside.empty() || refused.operation_index.value_or(0) == 0;
        bool const gone = first_refused &&
            (refused.code == error_code::update_condition_not_satisfied ||
                refused.code == error_code::resource_not_found);
        if (gone || refused.effect == effect::unknown) {
            maybe = maybe || refused.effect == effect::unknown;
            // A request of ours that came late has changed the version; then the one that is stored is the receipt.
            std::int32_t const step = held.step;
            ENTITABLE_TRY(bool const mine, look(held));
            if (!mine) {
                return receipt_is_lost(held);
            }
            if (!beside.empty() && held.step != step) {
                return {}; // it was this very request: what it changed beside the message is changed
            }
        } else if (!worth_retrying(refused)) {
            refused.effect = maybe ? effect::unknown : effect::none;
            return failure{std::move(refused)};
        }
        if (!again(attempt)) {
            refused.effect = maybe ? effect::unknown : effect::none;
            return failure{std::move(refused)};
        }
    }
}

ENTITABLE_DECL result<void> queue_core::renew(receipt& held, std::chrono::nanoseconds visibility) const {
    date_time until{};
    auto written = write(held, [&](row_builder& made) {
        until = {held.store_time(time().steady()).ticks + visibility.count() / 100};
        made.add(queue_property::visible_at, value_view{until});
    });
    if (written) {
        held.visible_at = until;
    }
    return written;
}

ENTITABLE_DECL result<void> queue_core::give_back(
    receipt& held, std::string_view why, std::chrono::nanoseconds delay) const {
    return write(held, [&](row_builder& made) {
        date_time const from = held.store_time(time().steady());
        made.add(queue_property::visible_at, value_view{date_time{from.ticks + delay.count() / 100}});
        if (!why.empty()) {
            made.add(queue_property::why, value_view{why});
        }
    });
}

/// What the identity of a message says when it is done.
ENTITABLE_DECL row done_identity(receipt const& held) {
    row_builder identity{held.lane, text::joined({system_row::identity, held.id()})};
    identity.add(queue_property::state, value_view{"done"});
    identity.add(queue_property::claim, value_view{held.claim});
    return identity.build();
}

ENTITABLE_DECL result<void> queue_core::complete(receipt& held) const {
    if (held.spent) {
        return receipt_is_spent();
    }
    std::string const identity_key = text::joined({system_row::identity, held.id()});
    row const done = done_identity(held);
    bool maybe = false;
    for (std::uint32_t attempt = 0;;) {
        ENTITABLE_CHECK(know_version(held));
        transact const request{table().name(),
            {mutation::remove(row_builder{held.lane, held.key}.build(), held.version),
                mutation::merge(done, any_etag)}};
        date_time told;
        auto const answer = send(request, told);
        if (answer) {
            held.spent = true;
            return {};
        }
        error refused = answer.error();
        maybe = maybe || refused.effect == effect::unknown;
        if (refused.code == error_code::resource_not_found) {
            ENTITABLE_TRY(auto const found, read(held.lane, identity_key, told));
            if (found && text_in(*found, queue_property::state) == "done" &&
                text_in(*found, queue_property::claim) == held.claim) {
                held.spent = true;
                return {};
            }
            return receipt_is_lost(held);
        }
        if (refused.code == error_code::update_condition_not_satisfied) {
            ENTITABLE_TRY(bool const mine, look(held));
            if (!mine) {
                // Gone between the refusal and the look: the identity says whether that was this request, come late.
                ENTITABLE_TRY(auto const found, read(held.lane, identity_key, told));
                if (found && text_in(*found, queue_property::state) == "done" &&
                    text_in(*found, queue_property::claim) == held.claim) {
                    held.spent = true;
                    return {};
                }
                return receipt_is_lost(held);
            }
        } else if (refused.effect == effect::none && !worth_retrying(refused)) {
            refused.effect = maybe ? effect::unknown : effect::none;
            return failure{std::move(refused)};
        }
        if (!again(attempt)) {
            refused.effect = maybe ? effect::unknown : effect::none;
            return failure{std::move(refused)};
        }
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
