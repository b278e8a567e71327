// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/messaging/detail/queue_core.hpp>

#include <algorithm>
#include <iterator>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL queue_core::shared_state& queue_core::absent_state() {
    static shared<shared_state> const absent =
        shared<shared_state>::make(moved_from_transport("queue"), std::string{}, queue_options{});
    return *absent;
}
ENTITABLE_DECL queue_core::shared_state::shared_state(any_store through, std::string name, queue_options how)
    : table(std::move(through), std::move(name), how.calls), options(std::move(how)), ids(options.seed) {}

ENTITABLE_DECL queue_core::queue_core(any_store through, std::string name, queue_options options)
    : state_(shared<shared_state>::make(std::move(through), std::move(name), std::move(options))) {}

ENTITABLE_DECL result<void> check_queue_options(queue_options const& options) {
    if (options.visibility < std::chrono::seconds{2} || options.visibility > std::chrono::hours{7 * 24}) {
        return failure{
            error_code::out_of_range_input, "queue_options::visibility must be between 2 seconds and 7 days"};
    }
    ENTITABLE_CHECK(options.polling.validate());
    return options.delays.validate();
}
ENTITABLE_DECL bool wait_before_sending(queue_options const& options, random_source& random, contention& sends) {
    if (sends.is_last()) { return false; }
    options.time->wait_until(sends.next(random.unit(), options.time->steady()));
    return true;
}
ENTITABLE_DECL failure receipt_is_lost() {
    return failure{error_code::receipt_lost, "another worker has claimed the message, or it is complete"};
}
ENTITABLE_DECL failure receipt_is_spent() {
    return failure{
        error_code::invalid_input, "the receipt is no longer valid: the message was completed, released or lost"};
}

ENTITABLE_DECL result<void> queue_core::check_options() const {
    ENTITABLE_CHECK(check_queue_options(options()));
    if (options().lanes < 1 || options().lanes > 1000) {
        return failure{error_code::out_of_range_input, "a queue must have 1 to 1000 lanes"};
    }
    return {};
}

ENTITABLE_DECL result<bool> queue_core::create() const {
    ENTITABLE_CHECK(check_options());
    ENTITABLE_TRY(bool const made, table().create_if_absent());
    if (!made) { // usually the queue exists: no write is sent that observers would record as failed
        date_time now;
        ENTITABLE_TRY(auto const header, read(std::string{system_row::queue}, system_row::queue, now));
        if (header) {
            ENTITABLE_CHECK(lanes());
            return false;
        }
    }
    ENTITABLE_CHECK(write_header());
    ENTITABLE_CHECK(lanes());
    return made;
}

ENTITABLE_DECL result<void> queue_core::write_header() const {
    row_builder header{system_row::queue, system_row::queue};
    header.add(queue_property::format, value_view{queue_format});
    header.add(queue_property::lane_count, value_view{static_cast<std::int32_t>(options().lanes)});
    write_entity const request{table().name(), mutation::insert(header.build())};
    date_time told;
    for (contention sends = contend();;) {
        auto const written = send(request, told);
        if (written || written.error().code == error_code::entity_already_exists) { return {}; }
        if ((written.error().effect == effect::none && !worth_retrying(written.error())) || !again(sends)) {
            return failure{written.error()};
        }
    }
}

ENTITABLE_DECL result<std::size_t> queue_core::lanes() const {
    if (std::size_t const known = state().lanes.load(memory_order::acquire); known != 0) { return known; }
    ENTITABLE_CHECK(check_options());
    date_time told;
    ENTITABLE_TRY(auto const header, read(std::string{system_row::queue}, system_row::queue, told));
    if (!header) {
        return failure{error_code::resource_not_found,
            text::joined({"the queue ", table().name(), " does not exist; create it first"})};
    }
    std::int32_t const format = (std::max)(int32_in(*header, queue_property::format), 1);
    if (format > queue_format) {
        return failure{error_code::store_newer,
            text::joined({"the queue ", table().name(), " has format ", std::to_string(format),
                "; this version of the library supports formats up to ", std::to_string(queue_format)})};
    }
    std::int32_t const number = int32_in(*header, format == 1 ? queue_property::lanes : queue_property::lane_count);
    if (number < 1 || number > 1000) {
        return failure{error_code::row_malformed,
            text::joined({"the header of the queue ", table().name(), " has ", std::to_string(number), " lanes"})};
    }
    auto const found = static_cast<std::size_t>(number);
    std::lock_guard const lock{state().guard};
    if (state().lane_states.empty()) {
        state().lane_states.resize(found);
        state().spares.resize(found);
        state().next_lane = static_cast<std::size_t>(random().bits() % found);
        state().clock.know(told, time());
    }
    state().format.store(format, memory_order::relaxed);
    state().lanes.store(found, memory_order::release);
    return found;
}

ENTITABLE_DECL void queue_core::know_time(std::size_t lane, date_time told) const {
    std::lock_guard const lock{state().guard};
    state().lane_states[lane].clock.know(told, time());
}

ENTITABLE_DECL date_time queue_core::store_time(std::size_t lane) const {
    std::lock_guard const lock{state().guard};
    store_clock const& own = state().lane_states[lane].clock;
    return (own.known() ? own : state().clock).now(time());
}

ENTITABLE_DECL result<std::optional<row>> queue_core::read(
    std::string const& lane, std::string_view key, date_time& told) const {
    page_cursor pages{query_entities{
        table().name(), {key_interval::only(lane), key_interval::only(std::string{key})}, {}, {}, 1, {}}};
    for (contention sends = contend(); pages.more();) {
        auto page = pages.take(send(pages.request(), told));
        if (page && !page->rows.empty()) { return std::optional<row>{row{page->rows[0]}}; }
        if (!page && (!worth_retrying(page.error()) || !again(sends))) { return std::move(page).as_failure(); }
    }
    return std::optional<row>{};
}

// ---- under a receipt ----

ENTITABLE_DECL bool queue_core::adopt(receipt& held, row_view stored) {
    if (text_in(stored, queue_property::claim) != held.claim) { return false; }
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
    if (!stored || !adopt(held, *stored)) { return false; }
    held.told = told;
    held.responded_at = time().steady();
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

/// Marks the receipt as spent, and returns the error ReceiptLost.
ENTITABLE_DECL failure receipt_is_lost(receipt& held) {
    held.spent = true;
    return receipt_is_lost();
}

ENTITABLE_DECL result<void> queue_core::write(
    receipt& held, function_ref<void(row_builder&)> properties, std::vector<mutation> const& beside) const {
    if (held.spent) { return receipt_is_spent(); }
    bool maybe = false;
    for (contention sends = contend();;) {
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
            held.responded_at = time().steady();
            return {};
        }
        error refused = answer.error();
        bool const first_refused = beside.empty() || refused.operation_index.value_or(0) == 0;
        bool const gone = first_refused && was_beaten(refused, rival_change::changed_or_removed);
        if (gone || refused.effect == effect::unknown) {
            maybe = maybe || refused.effect == effect::unknown;
            // An earlier attempt that arrived late may have changed the version; the stored version is then the receipt.
            std::int32_t const step = held.step;
            ENTITABLE_TRY(bool const mine, look(held));
            if (!mine) { return receipt_is_lost(held); }
            if (!beside.empty() && held.step != step) {
                return {}; // this request was applied, with the other changes
            }
        } else if (!worth_retrying(refused)) {
            refused.effect = maybe ? effect::unknown : effect::none;
            return failure{std::move(refused)};
        }
        if (!again(sends)) {
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
    if (written) { held.visible_at = until; }
    return written;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
