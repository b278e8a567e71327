// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/feed/detail/feed_core.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] inline std::string text_in_row(row_view stored, std::string_view name) {
    auto const found = stored.find(name);
    return found && found->type() == edm_type::string ? std::string{found->bytes()} : std::string{};
}

ENTITABLE_DECL result<std::vector<feed_core::registered>> feed_core::groups_of(std::size_t lane) const {
    result<std::vector<registered>> made{std::in_place};
    std::string const prefix = feed_prefix('g');
    ENTITABLE_CHECK(for_each_of(lane, prefix, [&](row_view stored) -> result<bool> {
        auto const joined = stored.find("Joined");
        made->push_back({std::string{stored.row_key.substr(prefix.size())},
            joined && joined->type() == edm_type::boolean && joined->bits() != 0, text_in_row(stored, "Scanned")});
        return true;
    }));
    return made;
}

ENTITABLE_DECL result<std::optional<feed_core::registered>> feed_core::registration(std::size_t lane) const {
    call own = new_call();
    auto const found =
        family_->main.store().execute(get_entity{name_, feed_lane_key(lane), feed_prefix('g') + group_, {}}, own);
    if (!found) {
        if (found.error().code == error_code::resource_not_found) { return std::optional<registered>{}; }
        return failure{found.error()};
    }
    auto const joined = found->entity.view().find("Joined");
    return std::optional{registered{group_, joined && joined->type() == edm_type::boolean && joined->bits() != 0,
        text_in_row(found->entity.view(), "Scanned")}};
}

ENTITABLE_DECL result<void> feed_core::mark(std::size_t lane, bool joined, std::string_view scanned) {
    row_builder made{feed_lane_key(lane), feed_prefix('g') + group_};
    if (joined) {
        made.add("Joined", value_view{true});
    } else { // another program may have marked it as joined
        made.add("Scanned", scanned);
    }
    call own = new_call();
    auto written = family_->main.store().execute(write_entity{name_, mutation::merge(made.build(), any_etag)}, own);
    if (written) { return {}; }
    if (written.error().code == error_code::resource_not_found) { return missing(); } // it left in the meantime
    return std::move(written).as_failure();
}

ENTITABLE_DECL result<bool> feed_core::create() {
    ENTITABLE_CHECK(check_options());
    // Every lane names the group before the first partition is announced to it.
    bool joined = true;
    std::string scanned;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        ENTITABLE_TRY(auto const known, insert_registration(lane));
        joined = joined && known && known->joined;
        if (known && lane == 0) { scanned = known->scanned; }
    }
    if (joined) { return false; }
    ENTITABLE_CHECK(announce_all(std::move(scanned)));
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) { ENTITABLE_CHECK(mark(lane, true, {})); }
    return true;
}

ENTITABLE_DECL result<std::optional<feed_core::registered>> feed_core::insert_registration(std::size_t lane) {
    row_builder made{feed_lane_key(lane), feed_prefix('g') + group_};
    made.add("Joined", value_view{false});
    made.add("Scanned", std::string_view{});
    call own = new_call();
    auto const written = family_->main.store().execute(write_entity{name_, mutation::insert(made.build())}, own);
    if (written) { return std::optional<registered>{}; }
    if (written.error().code != error_code::entity_already_exists) { return failure{written.error()}; }
    auto known = registration(lane);
    if (known && !*known) { return missing(); }
    return known;
}

ENTITABLE_DECL result<void> feed_core::announce_all(std::string scanned) {
    for (;;) {
        ENTITABLE_TRY(auto found, partitions_after(scanned));
        ENTITABLE_CHECK(announce_some(found.keys));
        if (!found.more) { return {}; }
        scanned = std::move(found.last);
        ENTITABLE_CHECK(mark(0, false, scanned));
    }
}

ENTITABLE_DECL result<feed_core::some_partitions> feed_core::partitions_after(std::string const& scanned) const {
    query_entities asked;
    asked.table = table();
    if (!scanned.empty()) { asked.range.partition.lower = key_bound::excluding(scanned); }
    asked.select = {"PartitionKey", "RowKey"};
    asked.page_size = 1000;
    // One page, and then what is behind its last partition: a large partition does not have to be read.
    page_cursor pages{std::move(asked)};
    result<some_partitions> made{std::in_place, some_partitions{{}, scanned, false}};
    while (pages.more() && made->last == scanned) {
        call own = new_call();
        ENTITABLE_TRY(auto const found, pages.take(family_->main.store().execute(pages.request(), own)));
        for (std::size_t at = 0; at < found.rows.size(); ++at) {
            std::string_view const key = found.rows[at].partition_key;
            if (key == made->last && !(key.empty() && made->keys.empty())) { continue; }
            made->last = key;
            if (!system_row::is_one(key)) { made->keys.emplace_back(key); }
        }
    }
    made->more = pages.more();
    return made;
}

ENTITABLE_DECL result<void> feed_core::announce_some(std::vector<std::string> const& partitions) {
    std::size_t const most = family_->main.store().profile().max_operations;
    std::vector<std::vector<mutation>> due(lanes_.size());
    auto const flush = [&](std::size_t lane) -> result<void> {
        if (due[lane].empty()) { return {}; }
        transact request{name_, std::exchange(due[lane], {})};
        call own = new_call();
        auto made = family_->main.store().execute(request, own);
        return made ? result<void>{} : std::move(made).as_failure();
    };
    for (std::string const& each : partitions) {
        std::size_t const lane = feed_lane_of(each, lanes_.size());
        due[lane].push_back(mutation::insert_or_replace(announcement_row(each, lanes_.size(), 0, 0)));
        if (due[lane].size() >= most) { ENTITABLE_CHECK(flush(lane)); }
    }
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) { ENTITABLE_CHECK(flush(lane)); }
    return {};
}

ENTITABLE_DECL result<void> feed_core::leave() {
    ENTITABLE_CHECK(check_options());
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        ENTITABLE_CHECK(remove_registration(lane));
        forget(lane);
        ENTITABLE_CHECK(remove_positions(lane));
    }
    return {};
}

ENTITABLE_DECL result<void> feed_core::remove_registration(std::size_t lane) {
    std::string const partition = feed_lane_key(lane);
    for (;;) {
        std::vector<mutation> rows;
        for (std::string const& key : {feed_prefix('g') + group_, feed_prefix('l') + group_}) {
            call own = new_call();
            auto const found = family_->main.store().execute(get_entity{name_, partition, key, {}}, own);
            if (found) {
                rows.push_back(mutation::remove(row{partition, key, {}}, any_etag));
            } else if (found.error().code != error_code::resource_not_found) {
                return failure{found.error()};
            }
        }
        if (rows.empty()) { return {}; }
        call own = new_call();
        auto made = family_->main.store().execute(transact{name_, std::move(rows)}, own);
        if (!made && made.error().code != error_code::resource_not_found) { return std::move(made).as_failure(); }
    }
}

ENTITABLE_DECL result<void> feed_core::remove_positions(std::size_t lane) {
    std::string const partition = feed_lane_key(lane);
    std::string const prefix = text::joined({feed_prefix('p'), group_, "!"});
    std::size_t const most = family_->main.store().profile().max_operations;
    for (bool more = true; more;) {
        transact request{name_, {}};
        ENTITABLE_CHECK(for_each_of(lane, prefix, [&](row_view stored) -> result<bool> {
            request.changes.push_back(mutation::remove(row{partition, stored.row_key, {}}, any_etag));
            return request.changes.size() < most;
        }));
        more = request.changes.size() == most;
        if (request.changes.empty()) { return {}; }
        call own = new_call();
        auto made = family_->main.store().execute(request, own);
        if (made) { continue; }
        if (made.error().code != error_code::resource_not_found) { return std::move(made).as_failure(); }
        more = true; // another program removes them as well
    }
    return {};
}

ENTITABLE_DECL result<void> feed_core::release() {
    result<void> first;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        held_lane const& one = lanes_[lane];
        if (one.held && !one.version.empty()) {
            once_claim own;
            own.claim = claim_;
            own.version = one.version;
            once_row const at = lease_row(lane);
            call context = new_call();
            auto freeing = free_once(at, own, {options_.max_attempts, options_.delays, ids_.random()});
            auto freed = entitable::run(freeing, context, *options_.time, family_->main.store());
            if (!freed && first) { first = std::move(freed).as_failure(); }
        }
        if (one.held) { forget(lane); }
    }
    return first;
}

ENTITABLE_DECL result<feed_status> feed_core::status() {
    ENTITABLE_CHECK(check_options());
    result<feed_status> made{std::in_place};
    std::map<std::string, group_status> groups;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        ENTITABLE_TRY(lane_state here, state_of(lane));
        if (lane == 0 || here.told < made->time) { made->time = here.told; }
        made->announcements += here.announced.size();
        ENTITABLE_TRY(auto const named, groups_of(lane));
        for (registered const& each : named) {
            auto const at = groups.try_emplace(each.name, group_status{each.name, each.joined, here.told, 0}).first;
            group_status& group = at->second;
            group.joined = group.joined && each.joined;
            group.processed_until = (std::min)(group.processed_until, here.told);
            ENTITABLE_CHECK(add_unprocessed(lane, here, group));
        }
    }
    for (auto& [name, each] : groups) { made->groups.push_back(std::move(each)); }
    return made;
}

ENTITABLE_DECL result<feed_core::lane_state> feed_core::state_of(std::size_t lane) const {
    result<lane_state> made{std::in_place};
    ENTITABLE_CHECK(for_each_of(
        lane, feed_prefix('a'),
        [&](row_view stored) -> result<bool> {
            ENTITABLE_TRY(announcement read, read_announcement(stored));
            made->announced.push_back(std::move(read));
            return true;
        },
        &made->told));
    return made;
}

ENTITABLE_DECL result<void> feed_core::add_unprocessed(std::size_t lane, lane_state& of, group_status& group) const {
    announcement const* last = nullptr;
    fed_position position;
    bool is_behind = false;
    for (announcement const& one : of.announced) {
        if (last == nullptr || one.partition_key != last->partition_key) {
            ENTITABLE_TRY(position, position_of(lane, group.name, one.partition_key));
            is_behind = false;
        }
        last = &one;
        auto const has_processed = [&](std::int64_t number) {
            return !position.version.empty() && has_reached(position.at, position.at.log, one.log_lane, number);
        };
        if (has_processed(one.number)) { continue; }
        // What is announced may not be written: the rest of a block, or a writer that has ended.
        ENTITABLE_TRY(std::int64_t const written, last_number_of(of, one));
        if (has_processed(written)) { continue; }
        group.processed_until = (std::min)(group.processed_until, one.time);
        if (!std::exchange(is_behind, true)) { ++group.partitions_behind; }
    }
    return {};
}

ENTITABLE_DECL result<std::int64_t> feed_core::last_number_of(lane_state& of, announcement const& one) const {
    auto const [head, is_unread] = of.heads.try_emplace({one.partition_key, one.log_lane});
    if (is_unread) {
        ENTITABLE_TRY(auto const read, read_head_of(*family_, one.partition_key, one.log_lane, new_call()));
        head->second = read ? read->number : 0;
    }
    return head->second;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
