// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/route/detail/shard_part.hpp>
#include <entitable/shards/route/detail/shard_tables.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What every way to read several shards does with one of them.
class shard_reading {
public:
    shard_reading(sharded_state& state, query_entities const& request, call& context, shard_misses* misses)
        : state_(state), request_(request), context_(context), misses_(misses) {}

protected:
    /// Skips a failed shard: it is not queried again, and the rest of its rows are missing from this query.
    void skip_if_failed(shard_part& part) {
        std::string const& low = part.keys.lower.key;
        std::string const& high = part.keys.upper.key;
        std::lock_guard<std::mutex> const guard{misses_->lock};
        missing_shard const* failed = nullptr;
        missing_shard* own = nullptr;
        for (missing_shard& each : misses_->all) {
            if (each.shard == part.shard && each.low == low && each.high == high) {
                failed = &each;
                own = each.table == request_.table ? &each : own;
            }
        }
        if (failed == nullptr) { return; }
        part.failed = part.ended = true;
        if (own == nullptr) {
            missing_shard lost{*failed};
            lost.table = request_.table;
            note_last(lost, part);
            misses_->all.push_back(std::move(lost));
        } else if (own->after && (!part.last || comes_before(*part.last, *own->after))) {
            note_last(*own, part);
        }
    }
    static void note_last(missing_shard& lost, shard_part const& part) {
        lost.after.reset();
        if (part.last) { lost.after.emplace(part.last->partition_key, part.last->row_key); }
    }
    static bool comes_before(last_keys const& left, std::pair<std::string, std::string> const& right) {
        int const order = text::compare_utf16(left.partition_key, right.first);
        return order < 0 || (order == 0 && text::compare_utf16(left.row_key, right.second) < 0);
    }

    [[nodiscard]] result<shard_route> way_of(shard_part const& part) {
        return state_.route(part.keys_of(part.ranges.front().partition), request_.table, false, context_);
    }

    /// Starts over after the last row received.
    void restart(shard_part& part) {
        bool has_partition = part.last.has_value();
        if (part.last && !state_.map.state().shards.by_ranges()) {
            auto const owner = state_.map.state().shards.shard_of(part.last->partition_key);
            has_partition = owner && static_cast<std::int32_t>(*owner) == part.shard;
        }
        key_range const whole{intersection(request_.range.partition, part.keys), request_.range.row};
        part.ranges = ranges_behind(whole, part.last, has_partition);
        part.asked.continuation.reset();
        part.ended = part.ranges.empty(); // the last row received was the last possible row
    }

    result<void> fail(shard_part& part, error const& why) {
        bool const passes = why.code == error_code::cancelled || why.code == error_code::deadline_exceeded ||
            why.code == error_code::table_not_found || why.code == error_code::wrong_store;
        failure named{why};
        if ((several_ || misses_ != nullptr) && why.code != error_code::table_not_found) {
            std::int32_t const shard = part.way.place == nullptr ? part.shard : part.way.shard();
            named.error().message = text::joined({"virtual shard ", std::to_string(shard), " in the store ",
                part.way.place == nullptr ? std::string_view{"of the map"} : std::string_view{part.way.store()}, ": ",
                why.message});
        }
        if (misses_ == nullptr || passes) { return named; }
        missing_shard lost;
        lost.shard = part.shard;
        lost.low = part.keys.lower.key;
        lost.high = part.keys.upper.key;
        lost.table = request_.table;
        lost.store = part.way.place == nullptr ? std::string{} : part.way.store();
        note_last(lost, part);
        lost.error = named.error();
        std::lock_guard<std::mutex> const guard{misses_->lock};
        misses_->all.push_back(std::move(lost));
        part.failed = part.ended = true;
        return {};
    }

    /// Takes the end of a page: its continuation, or else the next range.
    static void go_on(shard_part& part, std::optional<std::string> continuation) {
        part.asked.continuation = std::move(continuation);
        if (part.asked.continuation) { return; }
        key_interval& present = part.ranges.front().partition;
        key_bound const& asked_to = part.asked.range.partition.upper;
        if (compare_upper(asked_to, present.upper) < 0) { // the rest has been split off since the fan-out began
            present.lower = key_bound::including(asked_to.key);
        } else {
            part.ranges.erase(part.ranges.begin());
        }
        part.ended = part.ranges.empty();
    }

    /// Makes the request of the current range, for the route of the part.
    void address(shard_part& part, shard_route way) const {
        part.way = std::move(way);
        part.asked.table = part.way.table_name();
        part.asked.range = part.ranges.front();
        if (part.way.map->by_ranges) {
            part.asked.range.partition = intersection(part.asked.range.partition, part.way.place->keys());
        }
    }

    sharded_state& state_;
    query_entities const& request_;
    call& context_;
    shard_misses* misses_;
    bool several_{}; ///< the query reads several shards
    std::uint64_t examined_{};
    bool stale_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
