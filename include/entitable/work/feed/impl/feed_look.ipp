// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/work/feed/detail/feed_core.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether a position is not before any of the announcements.
[[nodiscard]] inline bool has_reached_all(log_position const& position, std::vector<announcement> const& announced) {
    return std::ranges::all_of(announced,
        [&](announcement const& each) { return has_reached(position, position.log, each.log_lane, each.number); });
}

/// Whether a partition that is not handed over has a position to save, or an announcement to remove.
[[nodiscard]] inline bool is_unsaved(fed_partition const& one) {
    return one.changes.position != one.before || std::ranges::any_of(one.announced, [&](announcement const& each) {
        return has_reached(one.changes.position, one.changes.position.log, each.log_lane, each.number);
    });
}

ENTITABLE_DECL result<bool> feed_core::look(std::size_t lane, std::vector<fed_partition>& to) {
    ENTITABLE_CHECK(prepare_look(lane));
    ENTITABLE_TRY(lane_look found, look_at_announced(lane));
    held_lane& one = lanes_[lane];
    std::vector<fed_partition> quiet; // processed before, or without changes
    one.complete = found.news < options_.max_partitions;
    for (fed_partition& each : found.partitions) {
        one.complete = one.complete && !each.has_more;
        (each.has_news ? to : quiet).push_back(std::move(each));
    }
    if (std::ranges::any_of(quiet, is_unsaved)) {
        ENTITABLE_CHECK(finish(lane, quiet, one.turn));
        one.looked = false;
    }
    return !to.empty();
}

ENTITABLE_DECL result<void> feed_core::prepare_look(std::size_t lane) {
    held_lane& one = lanes_[lane];
    constexpr std::size_t most_positions = 20'000; // bounds the memory of a worker
    if (one.positions.size() > most_positions) { one.positions.clear(); }
    if (!one.joined) { // read before the announcements: then they contain those of `create`
        ENTITABLE_TRY(auto const own, registration(lane));
        if (!own) { return missing(); }
        one.joined = own->joined;
    }
    return {};
}

ENTITABLE_DECL result<feed_core::lane_look> feed_core::look_at_announced(std::size_t lane) {
    result<lane_look> found{std::in_place};
    fed_partition current;
    ENTITABLE_CHECK(for_each_of(lane, feed_prefix('a'), [&](row_view stored) -> result<bool> {
        ENTITABLE_TRY(announcement read, read_announcement(stored));
        if (!current.announced.empty() && current.changes.partition_key != read.partition_key) {
            ENTITABLE_CHECK(add_partition(lane, std::exchange(current, {}), *found));
            if (found->news >= options_.max_partitions) { return false; }
        }
        current.changes.partition_key = read.partition_key;
        current.announced.push_back(std::move(read));
        return true;
    }));
    if (found->news < options_.max_partitions) {
        if (!current.announced.empty()) { ENTITABLE_CHECK(add_partition(lane, std::move(current), *found)); }
        held_lane& one = lanes_[lane];
        one.open = std::move(found->open);
        std::erase_if(one.unsettled, [&](auto const& each) { return !found->present.contains(each.first); });
    }
    return found;
}

ENTITABLE_DECL result<void> feed_core::add_partition(std::size_t lane, fed_partition&& ended, lane_look& to) {
    to.present.insert(ended.changes.partition_key);
    if (waits_for_others(lane, ended)) { return {}; }
    ENTITABLE_CHECK(look_at(lane, ended));
    held_lane const& one = lanes_[lane];
    for (announcement const& each : ended.announced) { // others are not there any more
        auto const was = one.open.find(each.row_key);
        if (was != one.open.end()) { to.open.insert(*was); }
    }
    to.news += ended.has_news ? 1U : 0U;
    to.partitions.push_back(std::move(ended));
    return {};
}

ENTITABLE_DECL bool feed_core::waits_for_others(std::size_t lane, fed_partition const& one) {
    held_lane& held = lanes_[lane];
    auto const waits = held.unsettled.find(one.changes.partition_key);
    if (waits == held.unsettled.end()) { return false; }
    auto const known = held.positions.find(one.changes.partition_key);
    bool const nothing_new = known != held.positions.end() && has_reached_all(known->second.at, one.announced);
    if (nothing_new && options_.time->steady() < waits->second) { return true; }
    held.unsettled.erase(waits);
    return false;
}

ENTITABLE_DECL result<void> feed_core::look_at(std::size_t lane, fed_partition& one) {
    std::string const& partition_key = one.changes.partition_key;
    ENTITABLE_CHECK(take_position(lane, one));
    bool const has_position = !one.version.empty();
    if (has_position && has_reached_all(one.before, one.announced)) { return {}; }
    logged_changes page;
    ENTITABLE_TRY(page.position, start_in(lane, one));
    do { // a page may have only numbers that no change has
        ENTITABLE_TRY(
            page, read_logged_changes(*family_, partition_key, page.position, changes_options{options_.max_changes}));
    } while (page.more && page.changes.empty() && !page.needs_full_read);
    if (page.needs_full_read && !options_.full_reads && has_position) { return trimmed_away(partition_key); }
    one.changes.needs_full_read = page.needs_full_read && options_.full_reads;
    one.changes.changes = std::move(page.changes);
    one.changes.position = std::move(page.position);
    one.has_more = page.more;
    one.has_news = one.changes.needs_full_read || !one.changes.changes.empty();
    return page.more || page.needs_full_read ? result<void>{} : decide(lane, one);
}

ENTITABLE_DECL result<void> feed_core::take_position(std::size_t lane, fed_partition& one) {
    held_lane& held = lanes_[lane];
    std::string const& partition_key = one.changes.partition_key;
    auto known = held.positions.find(partition_key);
    if (known == held.positions.end()) {
        ENTITABLE_TRY(fed_position stored, position_of(lane, group_, partition_key));
        known = held.positions.emplace(partition_key, std::move(stored)).first;
    }
    one.version = known->second.version;
    one.before = known->second.at;
    one.trimmed = known->second.trimmed;
    one.changes.position = one.before;
    return {};
}

ENTITABLE_DECL result<log_position> feed_core::start_in(std::size_t lane, fed_partition const& one) const {
    // A partition without a position is newer than the group, unless `create` has announced it, with the number 0, or still may.
    bool const is_new = one.version.empty() && lanes_[lane].joined &&
        std::ranges::none_of(one.announced, [](announcement const& each) { return each.number == 0; });
    if (is_new) { return first_position(*family_); }
    return one.before;
}

ENTITABLE_DECL result<void> feed_core::decide(std::size_t lane, fed_partition const& one) {
    held_lane& held = lanes_[lane];
    steady_time const now = options_.time->steady();
    for (announcement const& each : one.announced) {
        if (each.log_lane >= one.changes.position.numbers.size()) { continue; }
        std::int64_t const seen = one.changes.position.numbers[each.log_lane];
        if (seen >= each.number) {
            held.open.erase(each.row_key);
            continue;
        }
        auto const [at, is_new] = held.open.try_emplace(each.row_key, undecided{now, seen});
        if (is_new || at->second.seen != seen) {
            at->second = {now, seen};
        } else if (now - at->second.since >= options_.void_after) {
            ENTITABLE_CHECK(void_number(*family_, one.changes.partition_key, each.log_lane, each.number));
            at->second.since = now;
        }
    }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
