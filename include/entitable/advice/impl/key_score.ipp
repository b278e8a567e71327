// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/detail/scorer.hpp>
#include <entitable/advice/key_score.hpp>

#include <limits>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL double query_score::seconds_of_one_page(
    double page_rows, double rows_of_table, double writes_per_second) const noexcept {
    if (never_continues()) { return std::numeric_limits<double>::infinity(); }
    if (most_returned > page_rows) { return 0; }
    if (!(writes_per_second > 0 && most_returned > 0)) { return std::numeric_limits<double>::infinity(); }
    return rows_of_table * (page_rows / most_returned - 1) / writes_per_second;
}

ENTITABLE_DECL std::string query_score::figures_of() const {
    std::string out;
    for (std::string const& each : averaged) { out += (out.empty() ? "mean over " : ", ") + each; }
    return out.empty() ? "as written" : out;
}

ENTITABLE_DECL std::string key_score::to_string() const {
    using detail::figure;
    using detail::short_figure;
    std::string out = "keys       " + declared.to_string() + (unique ? "\n" : "; not unique\n");
    out += "partitions " + figure(static_cast<double>(partitions.count)) + ", the largest has " +
        figure(static_cast<double>(partitions.largest)) + " entities\n";
    out += "load       " + short_figure(total) + " entities/s, the busiest partition " + short_figure(hottest) + " (" +
        detail::clipped(hottest_key, 32) + ")" + (fits ? ": within the targets\n" : ": exceeds the targets\n");
    out += "cost       " + short_figure(cost) + " s of service time per second\n";
    detail::text_table table{
        {"query", "access", "partitions", "examined", "returned", "requests", "time", "load/s", "figures"}};
    for (query_score const& each : queries) {
        table.add({each.name, std::string{entitable::to_string(each.access)}, short_figure(each.partitions),
            short_figure(each.examined), short_figure(each.returned), short_figure(each.requests),
            detail::seconds_text(each.seconds) + (each.misses_latency() ? " (too long)" : ""), short_figure(each.load),
            each.figures_of()});
    }
    return queries.empty() ? out : out + table.to_string(2);
}

ENTITABLE_DECL key_score score_keys(
    table_sample const& sample, workload const& load, key_declaration const& declared, service_targets const& targets) {
    return detail::scorer{sample, load, targets}.score(declared);
}

ENTITABLE_DECL key_comparison compare_keys(table_sample const& sample, workload const& load, key_declaration const& one,
    key_declaration const& other, service_targets const& targets) {
    detail::scorer scores{sample, load, targets};
    key_score first = scores.score(one);
    return {std::move(first), scores.score(other)};
}

ENTITABLE_DECL std::string key_comparison::to_string() const {
    using detail::short_figure;
    detail::text_table table{{"", one.declared.to_string(), other.declared.to_string()}};
    auto const add = [&](std::string name, auto const& of) { table.add({std::move(name), of(one), of(other)}); };
    add("partitions", [](key_score const& of) { return detail::figure(static_cast<double>(of.partitions.count)); });
    add("largest",
        [](key_score const& of) { return detail::figure(static_cast<double>(of.partitions.largest)) + " entities"; });
    add("busiest",
        [](key_score const& of) { return short_figure(of.hottest) + " entities/s" + (of.fits ? "" : ", too many"); });
    add("cost", [](key_score const& of) { return short_figure(of.cost) + " s a second"; });
    for (std::size_t index = 0; index < one.queries.size(); ++index) {
        add(one.queries[index].name, [&](key_score const& of) {
            query_score const& each = of.queries[index];
            return std::string{entitable::to_string(each.access)} + ", " + short_figure(each.examined) + " examined, " +
                detail::seconds_text(each.seconds);
        });
    }
    return table.to_string();
}

ENTITABLE_END_NAMESPACE
