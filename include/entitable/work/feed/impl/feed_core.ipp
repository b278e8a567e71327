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

ENTITABLE_DECL feed_core::feed_core(shared<index_family> of, std::string group, feed_options options)
    : family_(std::move(of)),
      group_(std::move(group)),
      name_(feed_table_name(family_->main.name())),
      options_(std::move(options)),
      ids_(options_.seed),
      claim_(ids_.next()),
      lanes_(family_->log ? family_->log->feed_lanes : 0) {}

[[nodiscard]] inline bool is_group_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= 50 && std::ranges::all_of(name, [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') ||
            each == '-' || each == '_';
    });
}

/// Compares the numbers among the options with their limits.
[[nodiscard]] inline result<void> check_feed_limits(feed_options const& of) {
    if (of.lease < std::chrono::seconds{2} || of.lease > std::chrono::hours{7 * 24}) {
        return failure{error_code::out_of_range_input, "the lease of a feed must be between 2 s and 7 days"};
    }
    if (of.max_partitions < 1 || of.max_partitions > 49) {
        return failure{error_code::out_of_range_input, "max_partitions of a feed must be between 1 and 49"};
    }
    if (of.max_changes < 1 || of.max_changes > 1000) {
        return failure{error_code::out_of_range_input, "max_changes of a feed must be between 1 and 1000"};
    }
    if (of.max_lanes < 1 || of.max_attempts < 1) {
        return failure{error_code::out_of_range_input, "max_lanes and max_attempts of a feed must be at least 1"};
    }
    return {};
}

ENTITABLE_DECL result<void> feed_core::check_options() const {
    if (lanes_.empty()) { return moved_from("table"); }
    if (!is_group_name(group_)) {
        return failure{error_code::invalid_input,
            "the name of a group must have 1 to 50 letters, digits, hyphens and underscores"};
    }
    ENTITABLE_CHECK(check_feed_limits(options_));
    if (!options_.calls.operation_id.empty()) {
        return failure{error_code::invalid_input, "a feed sends several writes, so it takes no operation id"};
    }
    ENTITABLE_CHECK(options_.polling.validate());
    return options_.delays.validate();
}

ENTITABLE_DECL call feed_core::new_call() const {
    call made{options_.calls, *options_.time};
    made.location = read_location::primary;
    return made;
}

ENTITABLE_DECL once_row feed_core::lease_row(std::size_t lane) const {
    return {name_, feed_lane_key(lane), feed_prefix('l') + group_, options_.lease};
}

ENTITABLE_DECL std::string feed_core::position_key(std::string_view group, std::string_view partition_key) const {
    return text::joined({feed_prefix('p'), group, "!", feed_partition_text(partition_key)});
}

ENTITABLE_DECL void feed_core::forget(std::size_t lane) {
    held_lane& one = lanes_[lane];
    std::uint64_t const turn = one.turn + 1;
    one = {};
    one.turn = turn;
}

ENTITABLE_DECL failure feed_core::lost(std::size_t lane) const {
    return failure{error_code::lane_lost,
        text::joined({"lane ", std::to_string(lane), " of the feed of the table \"", table(),
            "\" is held by another worker of the group \"", group_, "\" now"})};
}

ENTITABLE_DECL failure feed_core::missing() const {
    return failure{error_code::group_missing,
        text::joined({"the group \"", group_, "\" of the feed of the table \"", table(),
            "\" is not registered: call create()"})};
}

ENTITABLE_DECL failure feed_core::trimmed_away(std::string_view partition_key) const {
    return failure{error_code::log_trimmed,
        text::joined({"the change log of the partition \"", partition_key, "\" of the table \"", table(),
            "\" does not reach back to the position of the group \"", group_, "\""})};
}

/// Renews a lease, in a transaction of its lane.
[[nodiscard]] inline mutation renewed_lease(once_row const& at, etag const& version) {
    row_builder made{at.partition_key, at.row_key};
    made.add("Lease", std::int64_t{at.claim.count()});
    return mutation::merge(made.build(), version);
}

ENTITABLE_DECL result<bool> feed_core::hold(std::size_t lane) {
    held_lane& one = lanes_[lane];
    steady_time const now = options_.time->steady();
    if (one.held && !one.version.empty()) {
        auto const half = std::chrono::duration_cast<steady_time::duration>(options_.lease) / 2;
        if (now - one.renewed_at < half) { return true; }
        ENTITABLE_TRY(bool const renewed, renew(lane, now));
        if (renewed) { return true; }
    }
    if (now < one.not_before) { return false; }
    if (!one.held) {
        ENTITABLE_TRY(bool const begun, begin_turn(lane));
        if (!begun) { return false; }
    }
    return claim_lane(lane, now);
}

ENTITABLE_DECL result<bool> feed_core::renew(std::size_t lane, steady_time now) {
    held_lane& one = lanes_[lane];
    call own = new_call();
    auto made = family_->main.store().execute(write_entity{name_, renewed_lease(lease_row(lane), one.version)}, own);
    if (made) {
        one.version = std::move(made->etag);
        one.renewed_at = now;
        return true;
    }
    if (made.error().effect == effect::none && made.error().code != error_code::update_condition_not_satisfied &&
        made.error().code != error_code::resource_not_found) {
        return std::move(made).as_failure();
    }
    forget(lane); // claimed again, or another worker has it
    return false;
}

ENTITABLE_DECL result<bool> feed_core::begin_turn(std::size_t lane) {
    auto const held = static_cast<std::size_t>(std::ranges::count(lanes_, true, &held_lane::held));
    if (held >= options_.max_lanes) { return false; }
    ENTITABLE_TRY(auto const own, registration(lane));
    if (!own) { return missing(); }
    lanes_[lane].joined = own->joined;
    lanes_[lane].turn += 1;
    return true;
}

ENTITABLE_DECL result<bool> feed_core::claim_lane(std::size_t lane, steady_time now) {
    clock& time = *options_.time;
    once_row const at = lease_row(lane);
    once_claim wanted;
    wanted.claim = claim_;
    wanted.id = claim_;
    call context = new_call();
    auto claiming = claim_once(at, wanted, context, time, {options_.max_attempts, options_.delays, ids_.random()});
    auto claimed = entitable::run(claiming, context, time, family_->main.store());
    if (!claimed) { return without_lane(lane, std::move(claimed).as_failure(), now); }
    if (!claimed->mine) { return lost(lane); }
    held_lane& one = lanes_[lane];
    one.version = claimed->version;
    one.held = true;
    one.renewed_at = now;
    return true;
}

ENTITABLE_DECL result<bool> feed_core::without_lane(std::size_t lane, failure&& refused, steady_time now) {
    if (lanes_[lane].held) { forget(lane); }
    if (refused.error().code != error_code::store_busy) { return std::move(refused); }
    // Clocks that disagree may give a lease that ends in centuries.
    auto const left = (std::min)(refused.error().retry_after.value_or(options_.lease), options_.lease);
    lanes_[lane].not_before = now + std::chrono::duration_cast<steady_time::duration>(left);
    return false;
}

ENTITABLE_DECL result<std::optional<std::size_t>> feed_core::next(
    std::chrono::nanoseconds wait, std::vector<fed_partition>& to) {
    ENTITABLE_CHECK(check_options());
    clock& time = *options_.time;
    steady_time const begun = time.steady();
    auto const most = std::chrono::duration_cast<steady_time::duration>((std::max)(wait, std::chrono::nanoseconds{}));
    steady_time const end = most > no_deadline - begun ? no_deadline : begun + most;
    call waiting = new_call();
    waiting.deadline = no_deadline; // the timeout is for each request
    for (;;) {
        ENTITABLE_TRY(auto const found, look_around(to));
        if (found) { return found; }
        for (held_lane& each : lanes_) { each.looked = false; }
        ++idle_rounds_;
        steady_time const now = time.steady();
        if (now >= end) { return std::optional<std::size_t>{}; }
        auto const pause = std::chrono::duration_cast<steady_time::duration>(
            options_.polling.delay(idle_rounds_, ids_.random().unit()));
        ENTITABLE_CHECK(wait_until(pause < end - now ? now + pause : end, waiting, time));
    }
}

ENTITABLE_DECL result<std::optional<std::size_t>> feed_core::look_around(std::vector<fed_partition>& to) {
    for (std::size_t index = 0; index < lanes_.size(); ++index) {
        std::size_t const lane = (next_lane_ + index) % lanes_.size();
        if (lanes_[lane].looked) { continue; }
        ENTITABLE_TRY(bool const held, hold(lane));
        if (!held) { continue; }
        to.clear();
        ENTITABLE_TRY(bool const found, look(lane, to));
        if (found) {
            next_lane_ = (lane + 1) % lanes_.size();
            idle_rounds_ = 0;
            return std::optional{lane};
        }
        lanes_[lane].looked = true;
    }
    return std::optional<std::size_t>{};
}

ENTITABLE_DECL query_entities feed_core::rows_with(std::size_t lane, std::string const& prefix) const {
    query_entities asked;
    asked.table = name_;
    asked.range.partition = key_interval::only(feed_lane_key(lane));
    std::string after = prefix;
    after.back() = '"'; // follows the exclamation mark with which each prefix ends
    asked.range.row = {key_bound::including(prefix), key_bound::excluding(std::move(after))};
    asked.page_size = 1000;
    return asked;
}

ENTITABLE_DECL result<void> feed_core::for_each_of(
    std::size_t lane, std::string const& prefix, function_ref<result<bool>(row_view)> visit, date_time* told) const {
    page_cursor pages{rows_with(lane, prefix)};
    while (pages.more()) {
        call own = new_call();
        ENTITABLE_TRY(auto const found, pages.take(family_->main.store().execute(pages.request(), own)));
        if (told != nullptr) {
            date_time const now = own.server_date != date_time{} ? own.server_date : options_.time->now();
            *std::exchange(told, nullptr) = now;
        }
        for (std::size_t at = 0; at < found.rows.size(); ++at) {
            ENTITABLE_TRY(bool const more, visit(found.rows[at]));
            if (!more) { return {}; }
        }
    }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
