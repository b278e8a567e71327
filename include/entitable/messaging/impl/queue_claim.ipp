// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/messaging/detail/queue_core.hpp>
#include <entitable/request/idempotency.hpp>
#include <entitable/transport/run.hpp>

#include <algorithm>
#include <iterator>
#include <limits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr date_time no_date{(std::numeric_limits<std::int64_t>::max)()};

ENTITABLE_DECL result<bool> wait_unless_stopped(
    steady_time until, call const& waiting, cancellation_token const& stop, clock& time) {
    constexpr auto slice = std::chrono::milliseconds{5}; // a cancellation wakes nobody
    for (;;) {
        if (stop.cancelled()) {
            return false;
        }
        steady_time const now = time.steady();
        bool const last = !stop.has_source() || until <= now + slice;
        ENTITABLE_CHECK(wait_until(last ? until : now + slice, waiting, time));
        if (last) {
            return !stop.cancelled();
        }
    }
}
ENTITABLE_DECL steady_time end_of_wait(std::chrono::nanoseconds wait, steady_time now) noexcept {
    auto const ticks = std::chrono::duration_cast<steady_time::duration>((std::max)(wait, std::chrono::nanoseconds{}));
    return ticks > no_deadline - now ? no_deadline : now + ticks;
}

ENTITABLE_DECL result<std::vector<held_message>> queue_core::claim(std::uint32_t most, claim_options const& how) const {
    constexpr std::uint32_t largest = 32;
    most = std::clamp(most, std::uint32_t{1}, largest);
    if (how.stop.cancelled()) {
        return std::vector<held_message>{};
    }
    ENTITABLE_TRY(std::size_t const number, lanes());
    steady_time const end = end_of_wait(how.wait, time().steady());
    call waiting{options().calls, time()};
    waiting.deadline = no_deadline; // the timeout is for each request
    for (std::uint64_t look = 1;; ++look) {
        std::size_t first = 0;
        {
            std::lock_guard const lock{state().guard};
            first = state().next_lane;
            state().next_lane = (first + 1) % number;
        }
        date_time due = no_date;
        date_time told;
        for (std::size_t index = 0; index < number; ++index) {
            ENTITABLE_TRY(auto got, claim_from((first + index) % number, most, how.stop, due, told));
            if (!got.empty() || how.stop.cancelled()) {
                return got;
            }
        }
        steady_time const now = time().steady();
        if (now >= end) {
            return std::vector<held_message>{};
        }
        steady_time next =
            now + std::chrono::duration_cast<steady_time::duration>(options().polling.delay(look, random().unit()));
        if (due != no_date) { // a message that is invisible now can be had then
            std::chrono::nanoseconds const left{(std::max)(due.ticks - told.ticks, std::int64_t{0}) * 100};
            next = (std::min)(next, now + std::chrono::duration_cast<steady_time::duration>(left));
        }
        ENTITABLE_TRY(bool const whole, wait_unless_stopped((std::min)(next, end), waiting, how.stop, time()));
        if (!whole) {
            return std::vector<held_message>{};
        }
    }
}

ENTITABLE_DECL result<queue_core::found_rows> queue_core::scan(std::string const& lane, std::string_view behind,
    std::string_view up_to, std::uint32_t most, cancellation_token const& stop) const {
    query_entities asked{table().name(), {key_interval::only(lane), rows_of_kind(system_row::message, behind)}, {}, {},
        std::clamp(most + 4, std::uint32_t{8}, std::uint32_t{100}), {}};
    if (!up_to.empty()) {
        asked.range.row.upper = key_bound::including(std::string{up_to});
    }
    result<found_rows> found{std::in_place};
    found->due = no_date;
    for (std::uint32_t attempt = 0;;) {
        auto page = send(asked, found->told);
        if (!page) {
            if (!worth_retrying(page.error()) || stop.cancelled() || !again(attempt)) {
                return std::move(page).as_failure();
            }
            continue;
        }
        for (std::size_t index = 0; index < page->rows.size() && found->ready.size() < most; ++index) {
            row_view const each = page->rows[index];
            if (date_time const visible = visible_at_of(each); visible > found->told) {
                found->due = (std::min)(found->due, visible);
            } else if (int32_in(each, queue_property::deliveries) >=
                static_cast<std::int32_t>((std::max)(options().max_deliveries, 1U))) {
                found->used_up.push_back({row{each}, each.etag()});
            } else {
                found->ready.push_back({row{each}, each.etag()});
            }
        }
        found->to_end = !page->continuation;
        if (found->to_end || found->ready.size() >= most) {
            return found;
        }
        asked.continuation = std::move(page->continuation);
        asked.page_size = 1000; // many that others have: on to those behind them
    }
}

ENTITABLE_DECL result<std::vector<held_message>> queue_core::claim_from(
    std::size_t lane, std::uint32_t most, cancellation_token const& stop, date_time& due, date_time& told) const {
    constexpr std::int64_t second = date_time::ticks_per_second;
    std::string const name = lane_key(lane);
    for (int look = 0; look < 8; ++look) { // others were faster each time: there is work elsewhere
        lane_cursor at;
        {
            std::lock_guard const lock{state().guard};
            at = state().cursors[lane];
        }
        // Something before the cursor can be had by now, or could be: given back, or put in with an earlier time.
        std::int64_t const latest = at.head_seen.ticks + options().visibility.count() / 100;
        std::int64_t const now = at.told.ticks +
            std::chrono::duration_cast<std::chrono::nanoseconds>(time().steady() - at.told_at).count() / 100;
        bool const back = now >= (std::min)(at.head_due.ticks, latest) && now >= at.head_seen.ticks + second;
        if (back) {
            at.behind.clear();
        }
        bool const from_head = at.behind.empty();
        ENTITABLE_TRY(found_rows found, scan(name, at.behind, {}, most, stop));
        if (found.ready.empty() && !from_head) {
            date_time const first_due = found.due;
            std::vector<pick> used_up = std::move(found.used_up);
            ENTITABLE_TRY(found, scan(name, {}, at.behind, most, stop));
            found.due = (std::min)(found.due, first_due);
            std::move(used_up.begin(), used_up.end(), std::back_inserter(found.used_up));
            at.behind.clear();
        }
        told = at.told = found.told;
        at.told_at = time().steady();
        due = (std::min)(due, found.due);
        if (at.behind.empty()) {
            at.head_seen = found.told;
            at.head_due = no_date;
        }
        for (pick const& each : found.used_up) {
            static_cast<void>(bury(name, each)); // whoever meets it next tries again
        }
        date_time const claimed_until{found.told.ticks + options().visibility.count() / 100};
        at.head_due = (std::min)({at.head_due, found.due, found.ready.empty() ? no_date : claimed_until});
        at.behind = found.ready.empty() ? at.behind : std::string{found.ready.back().stored.row_key()};
        {
            std::lock_guard const lock{state().guard};
            state().cursors[lane] = at;
        }
        if (found.ready.empty() || stop.cancelled()) {
            return std::vector<held_message>{};
        }
        ENTITABLE_TRY(auto got, take(name, std::move(found.ready), found.told));
        if (!got.empty()) {
            return got;
        }
    }
    return std::vector<held_message>{};
}

ENTITABLE_DECL result<std::vector<held_message>> queue_core::take(
    std::string const& lane, std::vector<pick> ready, date_time scanned) const {
    std::string const claim = fresh_id(); // for this call alone: what has it is ours
    date_time const until{scanned.ticks + options().visibility.count() / 100};
    result<std::vector<held_message>> taken{std::in_place};
    auto const hold = [&](pick& each, etag version, date_time told) {
        held_message made;
        made.stored = std::move(each.stored);
        row_view const stored = made.stored;
        made.held.lane = lane;
        made.held.key = stored.row_key;
        made.held.claim = claim;
        made.held.version = std::move(version);
        made.held.deliveries = static_cast<std::uint32_t>(int32_in(stored, queue_property::deliveries)) + 1;
        made.held.step = int32_in(stored, queue_property::step);
        auto const steps = stored.find(queue_property::steps);
        made.held.steps = steps && steps->type() == edm_type::int64 ? steps->as_int64() : 0;
        made.held.visible_at = until;
        made.held.told = told;
        made.held.told_at = time().steady();
        made.held.spent = false;
        taken->push_back(std::move(made));
    };
    for (std::uint32_t attempt = 0; taken->empty();) {
        transact request{table().name(), {}};
        for (pick const& each : ready) {
            row_builder made{lane, each.stored.row_key()};
            made.add(queue_property::visible_at, value_view{until});
            made.add(queue_property::deliveries, value_view{int32_in(each.stored, queue_property::deliveries) + 1});
            made.add(queue_property::claim, value_view{claim});
            request.changes.push_back(mutation::merge(made.build(), each.version));
        }
        date_time told;
        auto answer = send(request, told);
        if (answer) {
            for (std::size_t index = 0; index < ready.size(); ++index) {
                hold(ready[index], std::move(answer->results[index].etag), told);
            }
            break;
        }
        error const& refused = answer.error();
        bool const beaten = refused.code == error_code::update_condition_not_satisfied ||
            refused.code == error_code::resource_not_found;
        if (refused.effect == effect::none && !beaten && !worth_retrying(refused)) {
            return std::move(answer).as_failure();
        }
        // The rows say who has them: this call, nobody yet, or somebody else.
        std::vector<pick> left;
        std::string const first{ready.front().stored.row_key()};
        std::string const last{ready.back().stored.row_key()};
        query_entities asked{table().name(),
            {key_interval::only(lane), {key_bound::including(first), key_bound::including(last)}}, {}, {}, 100, {}};
        std::size_t at = 0;
        for (bool more = true; more;) {
            auto page = send(asked, told);
            if (!page) {
                if (!worth_retrying(page.error()) || !again(attempt)) {
                    failure unknown = std::move(page).as_failure();
                    unknown.error().effect = effect::unknown; // they come again when the claim is over
                    return unknown;
                }
                continue;
            }
            for (std::size_t index = 0; index < page->rows.size(); ++index) {
                row_view const each = page->rows[index];
                while (at < ready.size() && text::compare_utf16(ready[at].stored.row_key(), each.row_key) < 0) {
                    ++at;
                }
                if (at == ready.size() || ready[at].stored.row_key() != each.row_key) {
                    continue;
                }
                if (text_in(each, queue_property::claim) == claim) {
                    hold(ready[at], each.etag(), told);
                } else if (each.etag() == ready[at].version) {
                    left.push_back(std::move(ready[at]));
                }
                ++at;
            }
            more = page->continuation.has_value();
            asked.continuation = std::move(page->continuation);
        }
        if (!taken->empty() || left.empty()) {
            break;
        }
        ready = std::move(left);
        if (!again(attempt)) {
            failure unknown = std::move(answer).as_failure();
            unknown.error().effect = effect::unknown;
            return unknown;
        }
    }
    // What would be over soon is renewed before anybody begins to work.
    std::erase_if(*taken, [&](held_message& each) {
        return each.held.remaining(time().steady()) <= options().visibility / 2 &&
            !under_receipt().renew(each.held, options().visibility);
    });
    return taken;
}

ENTITABLE_DECL bool queue_core::bury(std::string const& lane, pick const& one) const {
    row_view const stored = one.stored;
    row_builder dead =
        moved_message(text::joined({system_row::dead_letter, id_of_message(stored.row_key)}), stored, false);
    dead.add(queue_property::key, value_view{stored.row_key});
    date_time told;
    return send(
        transact{table().name(),
            {mutation::remove(row_builder{lane, stored.row_key}.build(), one.version), mutation::insert(dead.build())}},
        told)
        .has_value();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
