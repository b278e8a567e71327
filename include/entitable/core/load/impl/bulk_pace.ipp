// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/load/detail/bulk_pace.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL double bulk_pace::rate(steady_time now) const noexcept {
    constexpr double factor = 0.9;
    constexpr double climb = 8; // seconds to return to the refused rate
    double made = most_;
    if (ceiling_ > 0) {
        double const x = seconds_of(now - lowered_) / climb - 1;
        double const risen = ceiling_ * (1 + (1 - factor) * x * x * x);
        made = made > 0 ? (std::min)(made, risen) : risen;
    }
    return made;
}

ENTITABLE_DECL void bulk_pace::sent(std::size_t rows, steady_time now) noexcept {
    constexpr auto most_late = std::chrono::milliseconds{20}; // maximum catch-up after a late timer
    double const limit = rate(now);
    if (limit <= 0) { return; }
    next_ = (std::max)(next_, now - most_late) +
        std::chrono::duration_cast<steady_time::duration>(
            std::chrono::duration<double>(static_cast<double>(rows) / limit));
}

ENTITABLE_DECL bool bulk_pace::refused(steady_time now, steady_time sent_at, double taken) noexcept {
    if (sent_at < lowered_) { return false; }
    if (ceiling_ <= 0 && taken <= 0) {
        return false; // there is no information yet
    }
    ceiling_ = (std::max)(ceiling_ > 0 ? rate(now) : taken, 1.0);
    lowered_ = now;
    return true;
}

/// Returns the time in which a budget provides these units, at most a day: a charge or a budget may be absurd.
inline steady_time::duration time_for(double units, double a_second) noexcept {
    constexpr double most = 24.0 * 3'600;
    double const seconds = units / a_second;
    double const limited = seconds < most ? (std::max)(seconds, -most) : most; // NaN: a day
    return std::chrono::duration_cast<steady_time::duration>(std::chrono::duration<double>(limited));
}

ENTITABLE_DECL double bulk_unit_pace::sent(std::size_t rows, steady_time now) noexcept {
    constexpr auto most_late = std::chrono::milliseconds{20}; // maximum catch-up after a late timer
    if (most_ <= 0) { return 0; }
    double const booked = static_cast<double>(rows) * a_row_;
    next_ = (std::max)(next_, now - most_late) + time_for(booked, most_);
    return booked;
}

ENTITABLE_DECL void bulk_unit_pace::charged(std::size_t written, double booked, double charge) noexcept {
    constexpr double weight = 0.1; // of a new charge in the estimate
    if (most_ <= 0 || charge <= 0) { return; }
    next_ += time_for(charge - booked, most_);
    if (written == 0) { return; }
    double const each = charge / static_cast<double>(written);
    a_row_ = (std::max)(measured_ ? (1 - weight) * a_row_ + weight * each : each, 0.001);
    measured_ = true;
}

ENTITABLE_DECL void bulk_meter::add(std::size_t rows, steady_time now) noexcept {
    if (second_ == (steady_time::min)()) { second_ = now; }
    if (double const passed = seconds_of(now - second_); passed >= 1) {
        before_ = rows_ / passed;
        rows_ = 0;
        second_ = now;
    }
    rows_ += static_cast<double>(rows);
}

ENTITABLE_DECL double bulk_meter::a_second(steady_time now) const noexcept {
    if (second_ == (steady_time::min)()) { return 0; }
    double const passed = seconds_of(now - second_);
    return before_ > 0 && passed < 0.5 ? before_ : rows_ / (std::max)(passed, 0.1);
}

ENTITABLE_DECL bulk_partition_pressure* bulk_pressure::find(std::string_view partition_key) {
    if (partitions_.empty()) { return nullptr; }
    auto const found = partitions_.find(partition_key);
    return found == partitions_.end() ? nullptr : &found->second;
}

ENTITABLE_DECL steady_time bulk_pressure::next_at(bulk_partition_pressure const& partition) noexcept {
    if (partition.refusals > 0 && partition.in_flight > 0) {
        return (steady_time::max)(); // one request was sent: its response decides
    }
    return (std::max)(partition.not_before, partition.pace.next_at());
}

ENTITABLE_DECL double bulk_pressure::sent(
    std::size_t rows, bulk_partition_pressure* partition, steady_time now) noexcept {
    pace_.sent(rows, now);
    if (partition != nullptr) {
        ++partition->in_flight;
        partition->pace.sent(rows, now);
    }
    return units_.sent(rows, now);
}

ENTITABLE_DECL void bulk_pressure::answered(bulk_partition_pressure* partition) noexcept {
    if (partition != nullptr) { --partition->in_flight; }
}

ENTITABLE_DECL void bulk_pressure::taken(
    std::size_t rows, bulk_partition_pressure* partition, steady_time now) noexcept {
    // At first each response permits one more request, which doubles the requests in each round; later each round permits one more.
    allowed_ = (std::min)(most_, allowed_ + (!was_refused_ ? 1.0 : 1.0 / allowed_));
    if (partition != nullptr) {
        partition->refusals = 0;
        partition->meter.add(rows, now);
    } else {
        ++others_taken_;
    }
    meter_.add(rows, now);
}

ENTITABLE_DECL void bulk_pressure::refused(
    std::string_view partition_key, steady_time sent_at, std::chrono::nanoseconds wish, steady_time now) {
    static constexpr entitable::backoff pauses{.base = std::chrono::milliseconds{25},
        .least = std::chrono::milliseconds{5},
        .most = std::chrono::seconds{10},
        .jitter = 0.2};
    bulk_partition_pressure& at =
        partitions_.try_emplace(std::string{partition_key}, bulk_partition_pressure{}).first->second;
    at.refusals += sent_at < at.last ? 0 : 1; // requests sent together are refused together
    at.last = now;
    auto const pause = (std::max)(pauses.delay(at.refusals < 1 ? 1 : at.refusals, random_.unit()), wish);
    at.not_before = (std::max)(at.not_before, now + std::chrono::duration_cast<steady_time::duration>(pause));

    // Decides whether the limit applies to all partitions or to one partition: to all if two partitions refuse requests
    // within a second of each other, or if there is only one partition; otherwise to the partition that refuses while others accept. A
    // decision holds until the next decision.
    bool const same = was_refused_ && last_refused_ == partition_key;
    if (was_refused_ && !same && now - refused_at_ < std::chrono::seconds{1}) {
        of_all_ = true;
    } else if (same) {
        of_all_ = others_taken_ == 0 || (of_all_ && others_taken_ < 8);
    }
    last_refused_ = partition_key;
    refused_at_ = now;
    was_refused_ = true;
    others_taken_ = 0;
    if (!of_all_) {
        at.pace.refused(now, sent_at, at.meter.a_second(now));
    } else if (pace_.refused(now, sent_at, taken_a_second(now))) {
        allowed_ = (std::max)(1.0, 0.9 * allowed_);
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
