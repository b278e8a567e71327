// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/route/detail/shard_part.hpp>
#include <entitable/shards/route/detail/shard_tables.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Adds the ETags that clients of `sharded` see to the rows of a run.
class shown_etags {
public:
    [[nodiscard]] std::span<row_view const> added(std::span<row_view const> run, std::int64_t epoch) {
        rows_.assign(run.begin(), run.end());
        if (start_.empty() || epoch != epoch_) {
            start_ = start_of_etags(epoch);
            epoch_ = epoch;
        }
        return are_of_timestamps() ? with_timestamps() : with_texts(epoch);
    }

private:
    [[nodiscard]] bool are_of_timestamps() const noexcept {
        return std::all_of(rows_.begin(), rows_.end(), [](row_view const& each) { return each.etag_text.empty(); });
    }
    /// ETags of one length, whose starts stay in place from run to run.
    [[nodiscard]] std::span<row_view const> with_timestamps() {
        std::size_t const size = start_.size() + rest_of_etag;
        if (in_place_ != epoch_ || texts_.size() < rows_.size() * size) {
            texts_.clear();
            for (std::size_t at = 0; at < rows_.size(); ++at) {
                texts_ += start_;
                append_end_of_etag(texts_, {});
            }
            in_place_ = epoch_;
        }
        char* text = texts_.data();
        for (row_view& each : rows_) {
            write_hexadecimal(text + start_.size(), static_cast<std::uint64_t>(each.timestamp().ticks));
            each.etag_text = {text, size};
            text += size;
        }
        return rows_;
    }
    [[nodiscard]] std::span<row_view const> with_texts(std::int64_t epoch) {
        texts_.clear();
        ends_.clear();
        in_place_.reset();
        for (row_view const& each : rows_) {
            if (each.etag_text.empty()) {
                texts_ += start_;
                append_end_of_etag(texts_, each.timestamp());
            } else {
                texts_ += etag_with_epoch(etag{each.etag_text}, epoch).to_string();
            }
            ends_.push_back(texts_.size());
        }
        std::size_t begin = 0;
        for (std::size_t at = 0; at < rows_.size(); begin = ends_[at++]) {
            rows_[at].etag_text = std::string_view{texts_}.substr(begin, ends_[at] - begin);
        }
        return rows_;
    }

    std::vector<row_view> rows_;
    std::string texts_;
    std::vector<std::size_t> ends_;
    std::optional<std::int64_t> in_place_; ///< `texts_` consists of ETags of Timestamps under this epoch
    std::string start_;
    std::int64_t epoch_{};
};

/// Appends rows to a page that will have at most `most` rows. A page gets room for some rows, or for all if these are not many more, and a
/// long page grows once.
inline void append_run(page& to, std::span<row_view const> run, std::size_t most) {
    constexpr std::size_t not_many = 256;
    std::size_t const some = most <= not_many ? most : 32;
    bool const is_long = some < most && to.size() < some && to.size() + run.size() >= some;
    if (to.empty() || is_long) {
        std::size_t const rows = is_long ? most : some;
        constexpr std::size_t with_etag = 64;
        std::size_t const most_bytes = std::size_t{1} << (is_long ? 20U : 17U);
        row_view const& first = run.front();
        std::size_t const bytes = first.partition_key.size() + first.row_key.size() + first.payload.size() + with_etag;
        to.reserve(rows, (std::min)(most_bytes, rows * bytes));
    }
    to.append(run);
}

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

    /// The next rows of a part, valid until the next call.
    [[nodiscard]] std::span<row_view const> rows_of(shard_part const& part, std::size_t rows) {
        run_.clear();
        for (std::size_t at = part.at; at < part.at + rows; ++at) { run_.push_back(part.rows[at]); }
        return run_;
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
    std::vector<row_view> run_;
    bool several_{}; ///< the query reads several shards
    std::uint64_t examined_{};
    bool stale_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
