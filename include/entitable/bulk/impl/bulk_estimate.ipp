// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/bulk_estimate.hpp>
#include <entitable/core/request/validate.hpp>

#include <algorithm>
#include <cmath>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL void bulk_sample::add(result<row> each) {
    ++rows_;
    if (!each || !validate_entity(*each, limits_)) {
        ++refused_;
        return;
    }
    mutation change = mutation::insert(*std::move(each));
    row_view const added = change.entity;
    auto at = partitions_.find(added.partition_key);
    if (at == partitions_.end()) { at = partitions_.try_emplace(std::string{added.partition_key}).first; }
    ++at->second.rows;
    at->second.sent += transaction_size({}, change);
    bytes_ += service_size(added);
    static_cast<void>(packer_.add(std::move(change)));
}

ENTITABLE_DECL bulk_cost bulk_sample::cost(std::uint64_t rows, bulk_targets const& targets) {
    bulk_cost made;
    made.rows = rows;
    made.refused = refused_;
    std::uint64_t const good = rows_ - refused_;
    if (good == 0) { return made; }
    std::uint64_t transactions = 0;
    while (packer_.take()) { ++transactions; }
    double const wanted = static_cast<double>(rows) * static_cast<double>(good) / static_cast<double>(rows_);
    double const scale = wanted / static_cast<double>(good);
    auto const whole = [](double number) { return static_cast<std::uint64_t>(std::ceil(number - 1e-9)); };
    made.transactions = whole(static_cast<double>(transactions) * scale);
    made.bytes = whole(static_cast<double>(bytes_) * scale);
    double busiest = 0;
    for (auto const& [key, each] : partitions_) {
        double const of_this = static_cast<double>(each.rows) * scale;
        double const size = static_cast<double>(each.sent) / static_cast<double>(each.rows);
        double const fitting = std::floor(static_cast<double>(limits_.max_transaction_size) / size);
        made.least_transactions +=
            whole(of_this / (std::max)(1.0, (std::min)(static_cast<double>(limits_.max_operations), fitting)));
        busiest = (std::max)(busiest, of_this);
    }
    made.seconds = (std::max)(wanted / targets.entities_a_second, busiest / targets.entities_a_second_in_a_partition);
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
