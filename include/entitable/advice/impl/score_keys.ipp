// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/detail/scorer.hpp>
#include <entitable/advice/score_keys.hpp>

ENTITABLE_BEGIN_NAMESPACE

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
