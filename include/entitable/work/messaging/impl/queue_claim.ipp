// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/messaging/detail/queue_core.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr date_time no_date{(std::numeric_limits<std::int64_t>::max)()};

ENTITABLE_DECL result<bool> wait_unless_stopped(
    steady_time until, call const& waiting, cancellation_token const& stop, clock& time) {
    constexpr auto slice = std::chrono::milliseconds{5}; // a cancellation does not end a wait, so it is polled
    for (;;) {
        if (stop.cancelled()) { return false; }
        steady_time const now = time.steady();
        bool const last = !stop.has_source() || until <= now + slice;
        ENTITABLE_CHECK(wait_until(last ? until : now + slice, waiting, time));
        if (last) { return !stop.cancelled(); }
    }
}
ENTITABLE_DECL steady_time end_of_wait(std::chrono::nanoseconds wait, steady_time now) noexcept {
    auto const ticks = std::chrono::duration_cast<steady_time::duration>((std::max)(wait, std::chrono::nanoseconds{}));
    return ticks > no_deadline - now ? no_deadline : now + ticks;
}

ENTITABLE_DECL result<std::vector<held_message>> queue_core::claim(std::uint32_t most, claim_options const& how) const {
    constexpr std::uint32_t largest = 32;
    most = std::clamp(most, std::uint32_t{1}, largest);
    if (how.stop.cancelled()) { return std::vector<held_message>{}; }
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
            bool const waits = time().steady() < end;
            ENTITABLE_TRY(auto got, claim_from((first + index) % number, most, waits, how.stop, due, told));
            if (!got.empty() || how.stop.cancelled()) { return got; }
        }
        steady_time const now = time().steady();
        if (now >= end) { return std::vector<held_message>{}; }
        steady_time next =
            now + std::chrono::duration_cast<steady_time::duration>(options().polling.delay(look, random().unit()));
        if (due != no_date) { // a message that is invisible now can be claimed then
            std::chrono::nanoseconds const left{(std::max)(due.ticks - told.ticks, std::int64_t{0}) * 100};
            next = (std::min)(next, now + std::chrono::duration_cast<steady_time::duration>(left));
        }
        ENTITABLE_TRY(bool const whole, wait_unless_stopped((std::min)(next, end), waiting, how.stop, time()));
        if (!whole) { return std::vector<held_message>{}; }
    }
}

inline constexpr std::size_t most_spare_bytes = 64 * 1024; // limit for one lane

ENTITABLE_DECL result<queue_core::found_rows> queue_core::scan(
    std::string const& lane, search const& at, cancellation_token const& stop) const {
    query_entities asked;
    asked.table = table().name();
    asked.range = {key_interval::only(lane), rows_of_kind(system_row::message, at.behind)};
    if (!at.ahead) { asked.range.row.upper = key_bound::excluding(message_key(at.up_to, {})); }
    asked.page_size = at.page;
    auto const most_deliveries = static_cast<std::int32_t>((std::max)(options().max_deliveries, 1U));
    std::size_t spare_bytes = 0;
    result<found_rows> found{std::in_place};
    found->due = no_date;
    page_cursor pages{std::move(asked)};
    for (contention sends = contend();;) {
        auto page = pages.take(send(pages.request(), found->told));
        if (!page) {
            if (!worth_retrying(page.error()) || stop.cancelled() || !again(sends)) {
                return std::move(page).as_failure();
            }
            continue;
        }
        for (row_view const each : page->rows) {
            message_marks const marks = marks_of(each.payload);
            bool const is_ready = marks.visible_at <= found->told && marks.deliveries < most_deliveries;
            if (found->ready.size() >= at.most) { // further messages are kept for the next claims
                spare_bytes += each.payload.size();
                if (!is_ready || found->ready.size() >= at.most + at.spares || spare_bytes > most_spare_bytes) {
                    break;
                }
            }
            if (marks.visible_at > found->told) {
                found->due = (std::min)(found->due, marks.visible_at);
                if (found->ready.empty() && time_of_message(each.row_key) <= found->told) {
                    ++found->held;
                    found->last_held = each.row_key;
                }
            } else if (!is_ready) {
                found->used_up.push_back({row{each}, each.etag()});
            } else {
                found->ready.push_back({row{each}, each.etag()});
            }
        }
        bool const is_over = !pages.more() || found->ready.size() >= at.most;
        bool const is_ahead =
            !page->rows.empty() && time_of_message(page->rows[page->rows.size() - 1].row_key) > at.up_to;
        if (is_over || is_ahead) { return found; }
        pages.request().page_size = 1000; // many messages are held by other workers: skip them quickly
    }
}

/// Number of rows of a page from which `most` messages are to be claimed.
constexpr std::uint32_t rows_for(std::uint32_t most) noexcept {
    return std::clamp(most + 4, std::uint32_t{8}, std::uint32_t{100});
}

ENTITABLE_DECL result<std::vector<held_message>> queue_core::claim_from(std::size_t lane, std::uint32_t most,
    bool waits, cancellation_token const& stop, date_time& due, date_time& told) const {
    constexpr std::int64_t second = date_time::ticks_per_second;
    constexpr std::int64_t tolerance = 2 * second; // dates of HTTP have whole seconds, and responses take time
    constexpr std::size_t many = 32;
    std::string const name = lane_key(lane);
    if (std::vector<pick> spares = spares_of(lane, most); !spares.empty()) {
        ENTITABLE_TRY(auto got, take(name, std::move(spares), store_time(lane)));
        if (!got.empty()) { return got; }
        forget_spares(lane, true);
        if (stop.cancelled()) { return got; }
    }
    for (int turn = 0; turn < 8; ++turn) { // after 8 claims lost to other workers, try other lanes
        lane_state at;
        std::uint32_t spares = 0;
        {
            std::lock_guard const lock{state().guard};
            std::uint32_t& pause = state().spares[lane].pause;
            spares = pause == 0 ? rows_for(most) : 0;
            pause -= pause == 0 ? 0U : 1U;
            at = state().lane_states[lane];
            at.clock = at.clock.known() ? at.clock : state().clock;
        }
        date_time const now = at.clock.now(time());
        bool const set_back = now.ticks + 3600 * second < at.head_due.ticks;
        if (now >= at.head_due || set_back) { at.behind.clear(); }
        // A program with a fast clock may have inserted a message under a future time although it is available now.
        bool const looks_ahead = now >= at.ahead_due || now.ticks + 3600 * second < at.ahead_due.ticks;
        std::uint32_t const page = looks_ahead ? 100 : rows_for(most);
        ENTITABLE_TRY(found_rows found,
            scan(name, {at.behind, {now.ticks + tolerance}, looks_ahead || waits, page, most, spares}, stop));
        told = found.told;
        due = (std::min)(due, found.due);
        for (pick const& each : found.used_up) {
            static_cast<void>(bury(name, each)); // the next worker to read the message tries again
        }
        if (looks_ahead) { // tries again immediately, as long as messages are found
            bool const found_one = !found.ready.empty() &&
                time_of_message(found.ready[(std::min)(found.ready.size(), std::size_t{most}) - 1].stored.row_key())
                        .ticks > found.told.ticks + tolerance;
            at.ahead_due = found_one ? date_time{} : date_time{found.told.ticks + 10 * second};
        }
        if (found.held >=
            many) { // these messages were renewed, or are held by programs of format 1: reads again after a time that
                    // grows with their number
            if (at.behind.empty()) {
                at.head_due = {found.told.ticks + second + static_cast<std::int64_t>(found.held) * second / 1000};
            }
            at.behind = found.last_held;
        }
        {
            std::lock_guard const lock{state().guard};
            at.clock.know(found.told, time());
            state().lane_states[lane] = at;
        }
        if (stop.cancelled()) { return std::vector<held_message>{}; }
        if (found.ready.empty()) {
            if (found.told.ticks > now.ticks + tolerance) {
                continue; // the store's clock was set forward: messages may be available
            }
            return std::vector<held_message>{};
        }
        keep_spares(lane, found.ready, most);
        ENTITABLE_TRY(auto got, take(name, std::move(found.ready), found.told));
        if (!got.empty()) { return got; }
    }
    return std::vector<held_message>{};
}

ENTITABLE_DECL result<void> queue_core::for_each_in(std::string const& lane, key_interval keys, contention& sends,
    function_ref<void(row_view, date_time)> visit) const {
    page_cursor pages{query_entities{table().name(), {key_interval::only(lane), std::move(keys)}, {}, {}, 1000, {}}};
    while (pages.more()) {
        date_time told;
        auto page = pages.take(send(pages.request(), told));
        if (!page) {
            if (!worth_retrying(page.error()) || !again(sends)) { return std::move(page).as_failure(); }
            continue;
        }
        for (row_view const each : page->rows) { visit(each, told); }
    }
    return {};
}

ENTITABLE_DECL queue_core::moves queue_core::moves_of(
    std::string const& lane, std::vector<pick> ready, date_time until) const {
    std::string const claim = fresh_id(); // unique to this call: it identifies the messages that this call claims
    std::string const head = message_key(until, {});
    moves all;
    all.request.table = table().name();
    all.request.changes.reserve(2 * ready.size());
    all.made.reserve(ready.size());
    std::size_t bytes = 0;
    for (pick& each : ready) {
        row_view const stored = each.stored;
        bytes += stored.payload.size();
        if (!all.made.empty() && bytes > most_bytes_together) { break; }
        message_marks const marks = marks_of(stored.payload);
        receipt made;
        made.lane = lane;
        made.claim = claim_text(claim, stored.row_key, marks.claim);
        made.deliveries = static_cast<std::uint32_t>(marks.deliveries) + 1;
        made.step = marks.step;
        made.steps = marks.steps;
        made.visible_at = until;
        std::string_view const id = id_of_message(stored.row_key);
        std::string& key = made.key;
        key.reserve(head.size() + id.size());
        key.append(head).append(id);
        if (key == stored.row_key) { // the key is from a program whose clock is fast
            key = message_key({until.ticks + 1}, id);
        }
        row to = claimed_message(key, {lane, stored.row_key, stored.payload}, marks, until, made.claim);
        all.request.changes.push_back(mutation::remove(message_keys(std::move(each.stored)), std::move(each.version)));
        all.request.changes.push_back(mutation::insert(std::move(to)));
        all.made.push_back(std::move(made));
    }
    return all;
}

ENTITABLE_DECL result<std::vector<held_message>> queue_core::take(
    std::string const& lane, std::vector<pick> ready, date_time scanned) const {
    date_time const until{scanned.ticks + options().visibility.count() / 100};
    moves all = moves_of(lane, std::move(ready), until);
    result<std::vector<held_message>> taken{std::in_place};
    taken->reserve(all.made.size());
    auto const hold = [&](std::size_t index, etag version, date_time told) {
        held_message& made = taken->emplace_back();
        made.stored = std::move(all.to(index).entity);
        made.held = std::move(all.made[index]);
        made.held.version = std::move(version);
        made.held.told = told;
        made.held.responded_at = time().steady();
        made.held.spent = false;
    };
    bool maybe = false;
    for (contention sends = contend(); taken->empty();) {
        date_time told;
        auto answer = send(all.request, told);
        if (answer) {
            for (std::size_t index = 0; index < all.made.size(); ++index) {
                hold(index, std::move(answer->results[2 * index + 1].etag), told);
            }
            break;
        }
        error const& refused = answer.error();
        bool const beaten = was_beaten(refused, rival_change::changed_or_removed);
        if (refused.effect == effect::none && !beaten && !worth_retrying(refused)) {
            return std::move(answer).as_failure();
        }
        maybe = maybe || refused.effect == effect::unknown;
        if (beaten && !maybe && all.made.size() == 1) { break; }
        // The rows show who has claimed each message: this call, no worker yet, or another worker.
        std::map<std::string_view, std::size_t> at;
        auto const read_rows = [&](bool from, auto const& visit) {
            at.clear();
            for (std::size_t index = 0; index < all.made.size(); ++index) {
                at.emplace((from ? all.from(index) : all.to(index)).entity.row_key(), index);
            }
            key_interval keys{key_bound::including(std::string{at.begin()->first}),
                key_bound::including(std::string{at.rbegin()->first})};
            return for_each_in(lane, std::move(keys), sends, [&](row_view each, date_time when) {
                if (auto const one = at.find(each.row_key); one != at.end()) { visit(one->second, each, when); }
            });
        };
        auto read = !maybe ? result<void>{} : read_rows(false, [&](std::size_t index, row_view stored, date_time when) {
            if (text_in(stored, queue_property::claim) == all.made[index].claim) { hold(index, stored.etag(), when); }
        });
        std::vector<bool> there(all.made.size());
        if (read && taken->empty()) {
            read = read_rows(true, [&](std::size_t index, row_view stored, date_time) {
                there[index] = all.from(index).condition.accepts(stored.etag());
            });
        }
        if (!read) {
            failure unread = std::move(read).as_failure();
            unread.error().effect = effect::unknown; // the messages are delivered again when the claim expires
            return unread;
        }
        if (!taken->empty() || !all.keep(there)) { break; }
        if (!again(sends)) {
            failure unknown = std::move(answer).as_failure();
            unknown.error().effect = effect::unknown;
            return unknown;
        }
    }
    // Claims that would expire soon are renewed before any work starts.
    std::erase_if(*taken, [&](held_message& each) {
        return each.held.remaining(time().steady()) <= options().visibility / 2 &&
            !under_receipt().renew(each.held, options().visibility);
    });
    return taken;
}

ENTITABLE_DECL bool queue_core::bury(std::string const& lane, pick const& one) const {
    row_view const stored = one.stored;
    std::string_view const id = id_of_message(stored.row_key);
    row_builder dead = moved_message(text::joined({system_row::dead_letter, id}), stored, false);
    std::string const first = message_key(first_time_of(stored), id);
    dead.add(queue_property::key, value_view{first});
    date_time told;
    return send(
        transact{table().name(),
            {mutation::remove(message_keys(lane, stored.row_key), one.version), mutation::insert(dead.build())}},
        told)
        .has_value();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
