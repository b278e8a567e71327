// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/log/detail/log_writer.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <iterator>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

// ---- the known heads --------------------------------------------------------------------------------

ENTITABLE_DECL std::size_t log_heads::place_of(std::string_view partition_key, std::uint32_t lane) noexcept {
    return (log_lane_of(partition_key, most) + std::size_t{lane} * 17) % most;
}

ENTITABLE_DECL std::optional<log_head> log_heads::find(std::string_view partition_key, std::uint32_t lane) const {
    std::lock_guard const lock{guard_};
    if (slots_.empty()) { return std::nullopt; }
    slot const& one = slots_[place_of(partition_key, lane)];
    return one.lane == lane && one.partition_key == partition_key ? one.head : std::nullopt;
}

ENTITABLE_DECL void log_heads::put(std::string_view partition_key, std::uint32_t lane, log_head head) {
    std::lock_guard const lock{guard_};
    if (slots_.empty()) { slots_.resize(most); }
    slot& one = slots_[place_of(partition_key, lane)];
    one.partition_key = partition_key;
    one.lane = lane;
    one.head = std::move(head);
}

ENTITABLE_DECL void log_heads::forget(std::string_view partition_key, std::uint32_t lane) {
    std::lock_guard const lock{guard_};
    if (slots_.empty()) { return; }
    slot& one = slots_[place_of(partition_key, lane)];
    if (one.lane == lane && one.partition_key == partition_key) { one.head.reset(); }
}

// ---- one attempt ------------------------------------------------------------------------------------

ENTITABLE_DECL guid log_writer::draw_id() noexcept {
    if (!seeded_) { return guid::random(); }
    guid made;
    for (std::size_t at = 0; at < made.bytes.size(); ++at) {
        made.bytes[at] = static_cast<unsigned char>(random_.bits() >> 32U);
    }
    return made;
}

/// The context of a request of the log, which is not part of the operation of the caller.
[[nodiscard]] inline call log_call(call const& from) {
    call made = from;
    made.operation_id.clear();
    return made;
}

ENTITABLE_DECL result<std::optional<log_head>> log_writer::read_head(
    std::string_view partition_key, std::uint32_t lane, call const& context) const {
    call own = log_call(context);
    auto const found = main_.store().execute(
        get_entity{main_.name(), std::string{partition_key}, log_head_key(log_.lanes, lane).to_string(), {}}, own);
    if (!found) {
        if (found.error().code == error_code::resource_not_found) { return std::optional<log_head>{}; }
        return failure{found.error()};
    }
    ENTITABLE_TRY(log_head read, read_log_head(found->entity));
    read.version = found->etag;
    return std::optional{std::move(read)};
}

ENTITABLE_DECL result<log_head> log_writer::head_of(
    std::string_view partition_key, std::uint32_t lane, call const& context) const {
    if (auto known = log_.heads.find(partition_key, lane)) { return *std::move(known); }
    ENTITABLE_TRY(auto read, read_head(partition_key, lane, context));
    return read ? *std::move(read) : log_head{};
}

ENTITABLE_DECL result<void> log_writer::add(
    transact& request, std::vector<std::string> const* entities, guid const& id, call const& context) {
    entries_.clear();
    met_other_log_ = false;
    id_ = id;
    partition_key_ = request.changes.front().entity.partition_key();
    for (mutation const& each : request.changes) {
        std::string_view const row_key = each.entity.row_key();
        bool const is_logged = entities == nullptr
            ? !system_row::is_one(row_key)
            : std::binary_search(entities->begin(), entities->end(), row_key, std::less<>{});
        if (!is_logged) { continue; }
        std::uint32_t const lane = log_.lanes == 1 ? 0 : log_lane_of(row_key, log_.lanes);
        auto at = std::ranges::find(entries_, lane, &log_entry::lane);
        if (at == entries_.end()) {
            entries_.emplace_back().lane = lane;
            at = std::prev(entries_.end());
        }
        if (!at->rows.empty()) { at->rows += '/'; }
        at->rows += each.kind == mutation_kind::remove ? 'r' : 'w';
        at->rows += row_key;
    }
    std::size_t const most = main_.store().profile().max_operations;
    if (std::size_t const all = request.changes.size() + added(); all > most) {
        std::string const rows = std::to_string(added());
        failure refused{error_code::invalid_input,
            text::joined({limit_text("the transaction", all, most, "operations"), ": ",
                std::to_string(request.changes.size()), " changes, and ", rows, " rows of the change log"})};
        entries_.clear();
        return refused;
    }
    std::vector<mutation>& rows = request.changes;
    std::size_t const changes = rows.size();
    std::size_t at = 0;
    rows.resize(changes + added());
    std::move_backward(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(changes), rows.end());
    guid const own = draw_id();
    for (log_entry& each : entries_) {
        auto head = head_of(partition_key_, each.lane, context);
        if (!head) {
            remove(request);
            return std::move(head).as_failure();
        }
        met_other_log_ = met_other_log_ || (!head->version.empty() && head->log != id);
        each.previous = head->number;
        each.number = head->number + 1;
        each.id = own;
        if (log_.feed_lanes != 0) {
            if (auto told = announce(each, *head, context); !told) {
                remove(request);
                return told;
            }
        }
        // The head comes first: if another writer was faster, the refusal is about a version. Filled in place, because a mutation is large.
        mutation& next = rows[at++];
        next.entity =
            log_head_row(partition_key_, log_head_key(log_.lanes, each.lane), each.number, id, each.announced);
        each.replaced = std::move(head->version);
        next.kind = each.replaced.empty() ? mutation_kind::insert : mutation_kind::replace;
        next.condition = each.replaced.empty() ? etag_condition{any_etag} : etag_condition{each.replaced};
        mutation& entry = rows[at++];
        entry.kind = mutation_kind::insert;
        entry.entity = log_entry_row(partition_key_, log_entry_key(log_.lanes, each.lane, each.number), each);
        entry.condition = any_etag;
    }
    return {};
}

ENTITABLE_DECL result<void> log_writer::announce(log_entry& entry, log_head const& head, call const& context) const {
    entry.announced = head.announced;
    if (entry.number <= head.announced) { return {}; }
    // A program that writes the partition again within seconds announces several numbers at once.
    bool const often = head.written_at != (steady_time::min)() && time_.steady() - head.written_at < block_lifetime;
    std::int64_t const up_to = entry.number + (often ? block_of_announcements - 1 : 0);
    call own = log_call(context);
    write_entity const request{feed_table_name(main_.name()),
        mutation::insert(announcement_row(partition_key_, log_.feed_lanes, entry.lane, up_to))};
    auto made = main_.store().execute(request, own);
    if (!made && made.error().code != error_code::entity_already_exists) {
        failure refused = std::move(made).as_failure();
        refused.error().effect = effect::none; // on the change; an announcement without a change is harmless
        refused.error().operation_index.reset();
        return refused;
    }
    entry.announced = up_to;
    return {};
}

ENTITABLE_DECL result<bool> log_writer::was_skipped(log_entry const& entry, call const& context) const {
    query_entities asked;
    asked.table = main_.name();
    asked.range.partition = key_interval::only(partition_key_);
    asked.range.row = {key_bound::including(log_entry_key(log_.lanes, entry.lane, entry.number).to_string()),
        key_bound::excluding(log_head_key(log_.lanes, entry.lane).to_string())};
    asked.page_size = 1;
    page_cursor pages{std::move(asked)};
    while (pages.more()) {
        call own = log_call(context);
        ENTITABLE_TRY(auto const found, pages.take(main_.store().execute(pages.request(), own)));
        if (found.rows.empty()) { continue; }
        ENTITABLE_TRY(auto const next, read_log_entry(found.rows[0], entry.lane));
        return next.change.number > entry.number && next.previous < entry.number;
    }
    return false;
}

ENTITABLE_DECL std::size_t log_writer::rows_for(std::vector<std::string> const& entities) const {
    if (log_.lanes == 1) { return entities.empty() ? 0 : 2; }
    std::vector<bool> touched(log_.lanes);
    std::size_t rows = 0;
    for (std::string const& each : entities) {
        auto const lane = touched[log_lane_of(each, log_.lanes)];
        rows += lane ? 0U : 2U;
        touched[log_lane_of(each, log_.lanes)] = true;
    }
    return rows;
}

ENTITABLE_DECL void log_writer::remove(transact& request) {
    request.changes.erase(request.changes.begin(), request.changes.begin() + static_cast<std::ptrdiff_t>(added()));
    entries_.clear();
}

ENTITABLE_DECL void log_writer::note(transact::response const& made) const {
    for (std::size_t at = 0; at < entries_.size(); ++at) {
        bool const shown = 2 * at < made.results.size() && !made.results[2 * at].etag.empty();
        if (shown) {
            log_entry const& one = entries_[at];
            steady_time const now = log_.feed_lanes == 0 ? (steady_time::min)() : time_.steady();
            log_.heads.put(partition_key_, one.lane, {one.number, id_, made.results[2 * at].etag, one.announced, now});
        } else {
            log_.heads.forget(partition_key_, entries_[at].lane);
        }
    }
}

ENTITABLE_DECL void log_writer::forget_heads() const {
    for (log_entry const& each : entries_) { log_.heads.forget(partition_key_, each.lane); }
}

// ---- after a failure --------------------------------------------------------------------------------

ENTITABLE_DECL bool log_writer::lost_a_head(call const& context) const {
    for (std::size_t at = 0; at < entries_.size(); ++at) {
        auto const now = read_head(partition_key_, entries_[at].lane, context);
        if (now && (*now ? (*now)->version : etag{}) != entries_[at].replaced) { return true; }
    }
    return false;
}

ENTITABLE_DECL bool log_writer::lost_to_others(error const& failed, call const& context) const {
    if (entries_.empty()) { return false; }
    forget_heads();
    if (failed.effect == effect::unknown || !was_beaten(failed)) { return false; }
    return failed.operation_index ? *failed.operation_index < added() : lost_a_head(context);
}

ENTITABLE_DECL log_verdict log_writer::judge(error const& failed, call const& context) const {
    if (entries_.empty()) { return log_verdict::not_concerned; }
    bool const behind = lost_to_others(failed, context);
    if (failed.effect == effect::unknown) { return settle(context); }
    if (!behind) { return log_verdict::not_concerned; }
    // A repetition can be refused by its own first attempt.
    return failed.attempts > 1 ? settle(context) : log_verdict::begin_again;
}

ENTITABLE_DECL log_verdict log_writer::settle(call const& context) const {
    log_entry const& one = entries_.front(); // the transaction is applied as a whole: one lane decides
    std::string const entry_key = log_entry_key(log_.lanes, one.lane, one.number).to_string();
    bool seen_taken = false;
    for (std::uint32_t tries = 0; tries < 8; ++tries) {
        call own = log_call(context);
        auto const entry = main_.store().execute(get_entity{main_.name(), partition_key_, entry_key, {}}, own);
        if (entry) {
            auto const read = read_log_entry(entry->entity, one.lane);
            if (!read) { return log_verdict::unknown; }
            return read->change.id == one.id ? log_verdict::applied : log_verdict::begin_again;
        }
        if (entry.error().code != error_code::resource_not_found) { return log_verdict::unknown; }
        auto const head = read_head(partition_key_, one.lane, context);
        if (!head) { return log_verdict::unknown; }
        std::int64_t const number = *head ? (*head)->number : 0;
        if (number >= one.number) {
            if (log_.feed_lanes != 0) {
                auto const skipped = was_skipped(one, context);
                if (!skipped) { return log_verdict::unknown; }
                if (*skipped) { return log_verdict::begin_again; }
            }
            if (seen_taken) { return log_verdict::unknown; } // the entry was trimmed
            seen_taken = true;                               // or it was written since it was looked for
            continue;
        }
        // Nobody has taken the number. Taking it changes the head, so that the lost request can no longer be applied.
        log_entry taken;
        taken.lane = one.lane;
        taken.number = number + 1;
        taken.previous = number;
        taken.id = one.id;
        taken.id.bytes[0] ^= 0xFFU; // differs from the id of the lost request
        taken.is_void = true;
        std::int64_t const announced = *head ? (*head)->announced : 0;
        row next = log_head_row(partition_key_, log_head_key(log_.lanes, one.lane), taken.number, id_, announced);
        transact request{main_.name(), {}};
        request.changes.push_back(
            *head ? mutation::replace(std::move(next), (*head)->version) : mutation::insert(std::move(next)));
        request.changes.push_back(
            mutation::insert(log_entry_row(partition_key_, log_entry_key(log_.lanes, one.lane, taken.number), taken)));
        if (main_.store().execute(request, own)) { return log_verdict::begin_again; }
    }
    return log_verdict::unknown;
}

ENTITABLE_DECL result<bool> log_writer::insert_missing_heads(
    std::string const& partition_key, std::vector<std::string> const& entities, guid const& id, call const& context) {
    bool inserted = false;
    std::vector<std::uint32_t> lanes;
    for (std::string const& each : entities) {
        std::uint32_t const lane = log_lane_of(each, log_.lanes);
        if (std::ranges::find(lanes, lane) != lanes.end()) { continue; }
        lanes.push_back(lane);
        ENTITABLE_TRY(log_head const head, head_of(partition_key, lane, context));
        if (!head.version.empty()) { continue; }
        call own = log_call(context);
        auto const made = main_.store().execute(
            write_entity{
                main_.name(), mutation::insert(log_head_row(partition_key, log_head_key(log_.lanes, lane), 0, id))},
            own);
        if (!made && made.error().effect == effect::none && made.error().code != error_code::entity_already_exists) {
            return failure{made.error()};
        }
        inserted = true;
    }
    return inserted;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
