// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/range_map.hpp>

#include <algorithm>
#include <numeric>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL range_map::range_map(load_shape const& load, double seconds, service_model const& model)
    : appended_(load.appended),
      prepends_(load.prepends),
      seconds_(seconds),
      server_rate_(model.server_rate),
      hot_after_(std::chrono::duration<double>(model.hot_after).count()),
      cool_after_(std::chrono::duration<double>(model.cool_after).count()),
      offline_(std::chrono::duration<double>(model.offline).count()),
      idle_bonus_(model.idle_bonus),
      idle_load_(model.idle_below * model.server_rate) {
    newest_ = appended_ > 0 ? 64 : 0;
    double const all = std::accumulate(load.shares.begin(), load.shares.end(), 0.0);
    for (double const share : load.shares) { shares_.push_back(all > 0 ? share / all : 0); }
    weights_.assign(load.partitions.begin(), load.partitions.end());
    weights_.resize(shares_.size(), 1);
    shares_.insert(prepends_ ? shares_.begin() : shares_.end(), newest_, 0.0);
    weights_.insert(prepends_ ? weights_.begin() : weights_.end(), newest_, 1.0);
    recent_ = shares_;
    last_.resize(shares_.size());
    of_partition_.resize(shares_.size());

    // Ranges of similar load; each has at least one partition.
    std::size_t const wanted = std::clamp<std::size_t>(model.ranges, 1, shares_.size());
    double taken = 0;
    std::size_t first = 0;
    for (std::size_t partition = 0; partition < shares_.size(); ++partition) {
        taken += shares_[partition];
        std::size_t const left = wanted - ranges_.size();
        bool const full = taken * static_cast<double>(wanted) >= static_cast<double>(ranges_.size() + 1) - 1e-9;
        if (left > 1 && (full || shares_.size() - partition == left)) {
            ranges_.push_back({first, partition + 1});
            first = partition + 1;
        }
    }
    ranges_.push_back({first, shares_.size()});
    for (served_range& each : ranges_) { each.lift = 1 + idle_bonus_; } // no load before the first second
    number_partitions();
}

ENTITABLE_DECL std::size_t range_map::newest(double second) const noexcept {
    auto const at = (std::min)(newest_ - 1, static_cast<std::size_t>(second / seconds_ * static_cast<double>(newest_)));
    return prepends_ ? newest_ - 1 - at : shares_.size() - newest_ + at;
}

ENTITABLE_DECL void range_map::count(std::vector<double> const& asked) {
    for (served_range& each : ranges_) {
        each.asked = 0;
        for (std::size_t partition = each.first; partition < each.end; ++partition) {
            each.asked += asked[partition];
            recent_[partition] = 0.99 * recent_[partition] + asked[partition];
            last_[partition] = asked[partition];
        }
        each.lift = 1;
        for (std::size_t partition = each.first; idle_bonus_ > 0 && partition < each.end; ++partition) {
            each.lift = (std::max)(each.lift, lift_on(each, partition));
        }
        each.hot = each.asked > server_rate_ ? each.hot + 1 : (std::max)(0.0, each.hot - 1);
    }
    for (std::size_t index = 0; index + 1 < ranges_.size(); ++index) {
        bool const cool = 2 * (ranges_[index].asked + ranges_[index + 1].asked) < server_rate_;
        ranges_[index].cool = cool ? ranges_[index].cool + 1 : 0;
    }
}

ENTITABLE_DECL double range_map::lift_on(served_range const& range, std::size_t partition) const noexcept {
    double const others = range.asked - last_[partition] / weights_[partition];
    return others <= idle_load_ ? 1 + idle_bonus_ : 1;
}

ENTITABLE_DECL std::size_t range_map::half_of(served_range const& range) const noexcept {
    double all = 0;
    for (std::size_t partition = range.first; partition < range.end; ++partition) { all += recent_[partition]; }
    double before = 0;
    std::size_t best = range.first;
    double best_part = 0; // load of the smaller side
    for (std::size_t partition = range.first; partition + 1 < range.end; ++partition) {
        before += recent_[partition];
        double const smaller = (std::min)(before, all - before);
        if (smaller > best_part) {
            best_part = smaller;
            best = partition + 1;
        }
    }
    return best_part > 0.01 * all ? best : range.first;
}

ENTITABLE_DECL void range_map::divide(std::size_t index, std::size_t at, double now) {
    served_range right{at, ranges_[index].end};
    right.offline_until = now + offline_;
    ranges_[index].end = at;
    ranges_[index].cool = 0;
    ranges_.insert(ranges_.begin() + static_cast<std::ptrdiff_t>(index) + 1, right);
    number_partitions();
}

ENTITABLE_DECL void range_map::join(std::size_t index) {
    served_range const right = ranges_[index + 1];
    served_range& left = ranges_[index];
    left.end = right.end;
    left.asked += right.asked;
    left.cool = 0;
    left.hot = 0;
    left.offline_until = (std::max)(left.offline_until, right.offline_until);
    ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
    number_partitions();
}

ENTITABLE_DECL void range_map::number_partitions() noexcept {
    for (std::size_t range = 0; range < ranges_.size(); ++range) {
        for (std::size_t partition = ranges_[range].first; partition < ranges_[range].end; ++partition) {
            of_partition_[partition] = range;
        }
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
