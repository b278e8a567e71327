// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/ranking.hpp>
#include <entitable/advice/detail/scorer.hpp>
#include <entitable/advice/load_shape.hpp>

#include <cmath>
#include <numbers>
#include <numeric>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL double arrival_pattern::at(double second) const noexcept {
    switch (is) {
        case form::constant: break;
        case form::ramp: return second >= seconds ? peak : rate + (peak - rate) * second / seconds;
        case form::daily: {
            double const now = rate + (peak - rate) * std::sin(2 * std::numbers::pi * second / 86'400);
            return now > 0 ? now : 0;
        }
        case form::burst: return second >= begin && second < begin + seconds ? peak : rate;
    }
    return rate;
}

ENTITABLE_DECL load_shape load_shape::even(std::size_t count, arrival_pattern arrivals) {
    return zipf(count, 0, arrivals);
}

ENTITABLE_DECL load_shape load_shape::zipf(std::size_t count, double exponent, arrival_pattern arrivals) {
    load_shape made;
    made.arrivals = arrivals;
    for (std::size_t rank = 1; rank <= count; ++rank) {
        made.shares.push_back(std::pow(static_cast<double>(rank), -exponent));
    }
    return made;
}

ENTITABLE_DECL load_shape load_shape::append(arrival_pattern arrivals) {
    load_shape made;
    made.arrivals = arrivals;
    made.appended = 1;
    return made;
}

ENTITABLE_DECL load_shape load_shape::prepend(arrival_pattern arrivals) {
    load_shape made = append(arrivals);
    made.prepends = true;
    return made;
}

ENTITABLE_DECL load_shape load_shape::of(
    table_sample const& sample, workload const& load, key_declaration const& declared) {
    detail::scorer scores{sample, load, {}};
    detail::partition_loads const loads = scores.loads_of(declared);
    double const writes = load.writes_per_second();
    double const spread = std::accumulate(loads.loads.begin(), loads.loads.end(), 0.0);
    bool const grows = std::fabs(loads.growth) > detail::growing && writes > 0;
    load_shape made;
    double const total = grows ? spread + writes : spread;
    made.arrivals = arrival_pattern::constant(total);
    made.appended = grows && total > 0 ? writes / total : 0;
    made.prepends = loads.growth < 0;
    // Groups neighbours until a group has a 500th of the load.
    double together = 0;
    std::uint32_t count = 0;
    for (std::size_t index = 0; index < loads.loads.size(); ++index) {
        double const next = loads.loads[index];
        if (count > 0 && together + next > spread / 250) {
            made.shares.push_back(together);
            made.partitions.push_back(count);
            together = 0;
            count = 0;
        }
        if (count == 0) { made.keys.push_back(loads.keys[index]); }
        together += next;
        ++count;
    }
    if (count > 0) {
        made.shares.push_back(together);
        made.partitions.push_back(count);
    }
    return made;
}

ENTITABLE_DECL result<void> load_shape::validate() const {
    auto const wrong = [](char const* what) { return failure{error_code::out_of_range_input, std::string{what}}; };
    constexpr double most = 1e9;
    for (double const each : {arrivals.rate, arrivals.peak}) {
        if (!(each >= 0 && each <= most)) {
            return wrong("every rate of the load must be between 0 and 1,000,000,000 entities a second");
        }
    }
    if (!(arrivals.begin >= 0 && arrivals.seconds >= 0 && std::isfinite(arrivals.begin) &&
            std::isfinite(arrivals.seconds)) ||
        (arrivals.is == arrival_pattern::form::ramp && arrivals.seconds == 0)) {
        return wrong("a time in the load is negative, not a number or missing");
    }
    for (double const each : shares) {
        if (!(each >= 0 && each <= 1e18)) { return wrong("a share in the load is negative or not a number"); }
    }
    if (!(appended >= 0 && appended <= 1)) { return wrong("the appended share of the load must be between 0 and 1"); }
    if (shares.empty() && appended < 1) { return wrong("the load has no partitions"); }
    if (shares.size() > 100'000) { return wrong("the load has more than 100,000 shares"); }
    return {};
}

ENTITABLE_END_NAMESPACE
