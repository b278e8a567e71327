// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/key_score.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL std::string key_score::to_string() const {
    using detail::figure;
    using detail::short_figure;
    std::string out = "keys       " + declared.to_string() + (unique ? "\n" : "; not unique\n");
    out += "partitions " + figure(static_cast<double>(partitions.count)) + ", the largest has " +
        figure(static_cast<double>(partitions.largest)) + " entities\n";
    out += "load       " + short_figure(total) + " entities/s, the busiest partition " + short_figure(hottest) + " (" +
        detail::clipped(hottest_key, 32) + ")" + (fits ? ": within the targets\n" : ": exceeds the targets\n");
    out += "cost       " + short_figure(cost) + " s of service time per second\n";
    detail::text_table table{{"query", "access", "partitions", "examined", "returned", "requests", "time", "load/s"}};
    for (query_score const& each : queries) {
        table.add({each.name, std::string{entitable::to_string(each.access)}, short_figure(each.partitions),
            short_figure(each.examined), short_figure(each.returned), short_figure(each.requests),
            detail::seconds_text(each.seconds) + (each.misses_latency() ? " (too long)" : ""),
            short_figure(each.load)});
    }
    return queries.empty() ? out : out + table.to_string(2);
}

ENTITABLE_END_NAMESPACE
