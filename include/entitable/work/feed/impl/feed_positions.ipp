// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/feed/detail/feed_core.hpp>

#include <algorithm>
#include <numeric>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// How long a worker leaves announcements that only other groups have not processed.
inline constexpr std::chrono::seconds time_for_other_groups{30};

[[nodiscard]] inline std::int64_t sum_of_numbers(log_position const& of) noexcept {
    return std::accumulate(of.numbers.begin(), of.numbers.end(), std::int64_t{0});
}

/// Reads a property with a position. Errors: RowMismatch.
[[nodiscard]] inline result<log_position> position_in(row_view stored) {
    auto const text = stored.find("Position");
    auto const read = text && text->type() == edm_type::string ? log_position::parse(text->bytes()) : std::nullopt;
    if (!read) {
        failure malformed{error_code::row_mismatch, "a position of a feed does not have the form of version 1"};
        malformed.error().detail = keys_text(stored.partition_key, stored.row_key);
        return malformed;
    }
    return *read;
}

ENTITABLE_DECL result<fed_position> feed_core::position_of(
    std::size_t lane, std::string_view group, std::string_view partition_key) const {
    call own = new_call();
    auto const found = family_->main.store().execute(
        get_entity{name_, feed_lane_key(lane), position_key(group, partition_key), {}}, own);
    if (!found) {
        if (found.error().code == error_code::resource_not_found) { return fed_position{}; }
        return failure{found.error()};
    }
    fed_position made;
    ENTITABLE_TRY(made.at, position_in(found->entity));
    auto const trimmed = found->entity.view().find("Trimmed");
    if (trimmed && trimmed->type() == edm_type::int64) { made.trimmed = trimmed->bits(); }
    made.version = found->etag;
    return made;
}

ENTITABLE_DECL result<std::vector<log_position>> feed_core::others(
    std::size_t lane, std::vector<registered> const& groups, std::string_view partition_key) const {
    result<std::vector<log_position>> made{std::in_place};
    for (registered const& each : groups) {
        if (each.name == group_) { continue; }
        ENTITABLE_TRY(fed_position theirs, position_of(lane, each.name, partition_key));
        made->push_back(std::move(theirs.at));
    }
    return made;
}

ENTITABLE_DECL result<void> feed_core::send(std::size_t lane, lane_changes&& changes) {
    for (;;) {
        transact const request = with_lease(lane, changes);
        steady_time const now = options_.time->steady();
        call own = new_call();
        auto const made = family_->main.store().execute(request, own);
        if (made) {
            remember(lane, changes, *made, now);
            return {};
        }
        ENTITABLE_CHECK(prepare_again(lane, made.error(), changes));
    }
}

ENTITABLE_DECL result<void> feed_core::prepare_again(std::size_t lane, error const& refused, lane_changes& changes) {
    bool const is_absent = refused.code == error_code::resource_not_found;
    if (refused.effect == effect::unknown) {
        forget_versions(lane, changes);
    } else if (is_absent && !changes.removals.empty()) {
        return leave_out_removed(lane, refused, changes);
    } else if (is_absent || refused.code == error_code::update_condition_not_satisfied ||
        refused.code == error_code::entity_already_exists) {
        forget(lane);
        return lost(lane);
    }
    return failure{refused};
}

ENTITABLE_DECL transact feed_core::with_lease(std::size_t lane, lane_changes const& changes) const {
    transact made{name_, {}};
    made.changes.push_back(renewed_lease(lease_row(lane), lanes_[lane].version));
    made.changes.insert(made.changes.end(), changes.positions.begin(), changes.positions.end());
    made.changes.insert(made.changes.end(), changes.removals.begin(), changes.removals.end());
    return made;
}

ENTITABLE_DECL void feed_core::remember(
    std::size_t lane, lane_changes const& changes, transact::response const& made, steady_time now) {
    held_lane& one = lanes_[lane];
    auto const version = [&](std::size_t index) {
        return index < made.results.size() ? made.results[index].etag : etag{};
    };
    one.version = version(0);
    one.renewed_at = now;
    for (std::size_t index = 0; index < changes.of.size(); ++index) {
        fed_partition const& saved = *changes.of[index];
        if (version(1 + index).empty()) {
            one.positions.erase(saved.changes.partition_key);
        } else {
            one.positions[saved.changes.partition_key] = {saved.changes.position, saved.trimmed, version(1 + index)};
        }
    }
}

ENTITABLE_DECL void feed_core::forget_versions(std::size_t lane, lane_changes const& changes) {
    held_lane& one = lanes_[lane];
    one.version = {};
    for (fed_partition const* each : changes.of) { one.positions.erase(each->changes.partition_key); }
}

ENTITABLE_DECL result<void> feed_core::leave_out_removed(
    std::size_t lane, error const& refused, lane_changes& changes) {
    std::size_t const first = 1 + changes.positions.size();
    bool const known = refused.operation_index && *refused.operation_index >= first &&
        *refused.operation_index - first < changes.removals.size();
    if (known) {
        changes.removals.erase(
            changes.removals.begin() + static_cast<std::ptrdiff_t>(*refused.operation_index - first));
    } else if (refused.operation_index) {
        forget(lane); // the lease or a position was removed
        return lost(lane);
    } else {
        changes.removals.clear(); // the next look removes the others
    }
    return {};
}

ENTITABLE_DECL result<void> feed_core::save(
    std::size_t lane, std::vector<fed_partition> const& all, std::vector<registered> const& groups) {
    lane_changes due;
    std::vector<std::pair<fed_partition const*, std::vector<log_position>>> positions;
    for (fed_partition const& each : all) {
        ENTITABLE_TRY(auto theirs, others(lane, groups, each.changes.partition_key));
        bool const is_saved = each.changes.position == each.before && !each.version.empty();
        if (!is_saved) { ENTITABLE_CHECK(add_position(lane, each, due)); }
        ENTITABLE_CHECK(add_removals(lane, each, theirs, due));
        positions.emplace_back(&each, std::move(theirs));
    }
    if (due.size() > 1) { ENTITABLE_CHECK(send(lane, std::move(due))); }
    for (auto const& [each, theirs] : positions) { ENTITABLE_CHECK(trim(lane, *each, theirs)); }
    return {};
}

ENTITABLE_DECL result<void> feed_core::make_room(std::size_t lane, lane_changes& due) {
    std::size_t const most = family_->main.store().profile().max_operations;
    return due.size() + 1 <= most ? result<void>{} : send(lane, std::exchange(due, {}));
}

ENTITABLE_DECL result<void> feed_core::add_position(std::size_t lane, fed_partition const& one, lane_changes& due) {
    ENTITABLE_CHECK(make_room(lane, due));
    row_builder made{feed_lane_key(lane), position_key(group_, one.changes.partition_key)};
    made.add("Partition", std::string_view{one.changes.partition_key});
    made.add("Position", std::string_view{one.changes.position.to_string()});
    made.add("Trimmed", one.trimmed);
    due.positions.push_back(
        one.version.empty() ? mutation::insert(made.build()) : mutation::replace(made.build(), one.version));
    due.of.push_back(&one);
    return {};
}

ENTITABLE_DECL result<void> feed_core::add_removals(
    std::size_t lane, fed_partition const& one, std::vector<log_position> const& theirs, lane_changes& due) {
    log_position const& own = one.changes.position;
    bool left = false;
    for (announcement const& told : one.announced) {
        if (!has_reached(own, own.log, told.log_lane, told.number)) { continue; }
        bool const by_all = std::ranges::all_of(
            theirs, [&](log_position const& each) { return has_reached(each, own.log, told.log_lane, told.number); });
        left = left || !by_all;
        if (!by_all) { continue; }
        ENTITABLE_CHECK(make_room(lane, due));
        due.removals.push_back(mutation::remove(row{feed_lane_key(lane), told.row_key, {}}, any_etag));
    }
    if (left) { lanes_[lane].unsettled[one.changes.partition_key] = options_.time->steady() + time_for_other_groups; }
    return {};
}

ENTITABLE_DECL result<void> feed_core::trim(
    std::size_t lane, fed_partition const& one, std::vector<log_position> const& positions) {
    log_position least = one.changes.position;
    for (log_position const& each : positions) {
        if (each.log != least.log || each.numbers.size() != least.numbers.size()) { return {}; }
        for (std::size_t index = 0; index < least.numbers.size(); ++index) {
            least.numbers[index] = (std::min)(least.numbers[index], each.numbers[index]);
        }
    }
    std::int64_t const sum = sum_of_numbers(least);
    if (options_.trim_after == 0 || sum - one.trimmed < std::int64_t{options_.trim_after}) { return {}; }
    // The position is saved: if this fails, a later call trims.
    if (!trim_log(*family_, one.changes.partition_key, least, trim_options{options_.keep})) { return {}; }
    auto const known = lanes_[lane].positions.find(one.changes.partition_key);
    if (known != lanes_[lane].positions.end()) { known->second.trimmed = sum; }
    return {};
}

ENTITABLE_DECL result<void> feed_core::finish(
    std::size_t lane, std::vector<fed_partition> const& all, std::uint64_t turn) {
    ENTITABLE_CHECK(check_options());
    if (lanes_[lane].turn != turn) { return lost(lane); }
    ENTITABLE_TRY(bool const held, hold(lane));
    if (!held || lanes_[lane].turn != turn) { return lost(lane); }
    // The groups are read now: a group that registers after this reads the partitions later than the changes were read.
    ENTITABLE_TRY(auto const groups, groups_of(lane));
    auto const own = std::ranges::find(groups, group_, &registered::name);
    if (own == groups.end()) {
        forget(lane);
        return missing();
    }
    lanes_[lane].joined = own->joined;
    ENTITABLE_CHECK(save(lane, all, groups));
    lanes_[lane].looked = lanes_[lane].complete;
    return {};
}

/// Leaves out the changes that a stored position has reached, and takes its numbers over. Returns whether it has reached every lane.
/// Errors: LaneLost.
[[nodiscard]] inline result<bool> leave_out_applied(
    log_position const& at, std::string const& group, partition_changes const& of, partition_changes& to) {
    std::size_t const lanes = of.position.numbers.size();
    if (at.log != of.position.log || at.numbers.size() != lanes) { return false; }
    std::size_t had = 0;
    for (std::size_t index = 0; index < lanes; ++index) {
        std::int64_t& number = to.position.numbers[index];
        had += at.numbers[index] >= number ? 1U : 0U;
        number = (std::max)(number, at.numbers[index]);
    }
    bool const is_ahead = to.position != of.position;
    if (had < lanes && is_ahead && of.needs_full_read) {
        return failure{error_code::lane_lost,
            text::joined({"another worker of the group \"", group, "\" has written later changes of the partition \"",
                of.partition_key, "\""})};
    }
    std::erase_if(to.changes,
        [&](logged_change const& each) { return each.lane < lanes && each.number <= at.numbers[each.lane]; });
    return had == lanes;
}

ENTITABLE_DECL result<partition_changes> changes_for_target(
    transaction_scope& all, std::string const& table, std::string const& group, partition_changes const& of) {
    std::string const key =
        text::joined({system_row::fed, table, "!", group, "!", feed_partition_text(of.partition_key)});
    ENTITABLE_TRY(auto const stored, all.find_row(key));
    result<partition_changes> made{of};
    if (stored) {
        ENTITABLE_TRY(log_position const at, position_in(*stored));
        ENTITABLE_TRY(bool const has_all, leave_out_applied(at, group, of, *made));
        if (has_all) {
            made->needs_full_read = false;
            return made;
        }
    }
    row_builder next{all.rows.partition_key(), key};
    next.add("Position", std::string_view{made->position.to_string()});
    all.change(stored ? mutation_kind::replace : mutation_kind::insert, next.build(), false);
    ENTITABLE_CHECK(all.rows.problem());
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
