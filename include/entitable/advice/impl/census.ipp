// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/census.hpp>
#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/detail/ranking.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL partition_facts facts_of_sizes(std::vector<std::uint64_t> rows) {
    partition_facts facts;
    facts.count = rows.size();
    if (rows.empty()) { return facts; }
    std::sort(rows.begin(), rows.end());
    double const count = static_cast<double>(rows.size());
    double total = 0;
    double ranked = 0;
    for (std::size_t index = 0; index < rows.size(); ++index) {
        total += static_cast<double>(rows[index]);
        ranked += static_cast<double>(index + 1) * static_cast<double>(rows[index]);
        std::uint64_t least = 1;
        std::size_t at = 0;
        while (2 * least <= rows[index]) {
            least *= 2;
            ++at;
        }
        while (facts.classes.size() <= at) {
            std::uint64_t const begin = std::uint64_t{1} << facts.classes.size();
            facts.classes.push_back({begin, 2 * begin - 1, 0});
        }
        ++facts.classes[at].partitions;
    }
    auto const nearest_rank = [&](double part) {
        auto const rank = static_cast<std::size_t>(std::ceil(part * count));
        return rows[rank == 0 ? 0 : rank - 1];
    };
    facts.mean = total / count;
    facts.median = nearest_rank(0.5);
    facts.of_90_percent = nearest_rank(0.9);
    facts.of_99_percent = nearest_rank(0.99);
    facts.largest = rows.back();
    facts.largest_share = static_cast<double>(rows.back()) / total;
    facts.gini = 2 * ranked / (count * total) - (count + 1) / count;
    constexpr std::size_t points = 65;
    double taken = 0;
    std::size_t next = 0;
    for (std::size_t point = 0; point < points; ++point) {
        auto const until =
            static_cast<std::size_t>(std::round(count * static_cast<double>(point) / static_cast<double>(points - 1)));
        for (; next < until; ++next) { taken += static_cast<double>(rows[rows.size() - 1 - next]); }
        facts.lorenz.push_back(taken / total);
    }
    return facts;
}

[[nodiscard]] ENTITABLE_DECL bool only_digits(std::string_view text) noexcept {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

[[nodiscard]] ENTITABLE_DECL member_facts facts_of_member(table_sample const& sample, sample_column const& column) {
    member_facts facts;
    facts.name = column.name;
    facts.at = column.at;
    double const kept = static_cast<double>(sample.size());
    std::size_t once = 0;
    std::size_t present = 0;
    bool digits = true;
    std::size_t shortest = ~std::size_t{};
    std::size_t longest = 0;
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t code = 0; code < column.counts.size(); ++code) {
        std::uint32_t const count = column.counts[code];
        if (count == 0) { continue; }
        value_view const value = column.value(code);
        auto type = std::find_if(
            facts.types.begin(), facts.types.end(), [&](auto const& each) { return each.first == value.type(); });
        if (type == facts.types.end()) { type = facts.types.insert(type, {value.type(), 0}); }
        type->second += count;
        digits = digits && value.type() == edm_type::string && only_digits(value.bytes());
        shortest = (std::min)(shortest, value.bytes().size());
        longest = (std::max)(longest, value.bytes().size());
        once += count == 1 ? 1U : 0U;
        present += count;
        ++facts.distinct;
        numbers.push_back(code);
    }
    facts.present = kept == 0 ? 0 : static_cast<double>(present) / kept;
    facts.unique = sample.size() > 1 && facts.distinct == sample.size();
    facts.unpadded_numbers = facts.distinct > 1 && digits && shortest != longest;
    // M. Charikar et al., "Towards estimation error guarantees for distinct values" (2000).
    double const up = 1 / sample.fraction();
    double const seen_often = static_cast<double>(facts.distinct - once);
    facts.distinct_most = up * static_cast<double>(once) + seen_often;
    facts.distinct_estimate =
        facts.unique ? facts.distinct_most : std::sqrt(up) * static_cast<double>(once) + seen_often;
    std::size_t const shown = std::min<std::size_t>(5, numbers.size());
    std::partial_sort(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(shown), numbers.end(),
        [&](std::uint32_t left, std::uint32_t right) {
            return column.counts[left] != column.counts[right] ? column.counts[left] > column.counts[right]
                                                               : left < right;
        });
    for (std::size_t index = 0; index < shown; ++index) {
        double const share = column.counts[numbers[index]] / kept;
        entitable::value const owned{column.value(numbers[index])};
        facts.frequent.push_back({clipped(owned.to_string(), 32), share, sample.error_of(share)});
    }
    facts.growth = growth_of(sample, column);
    return facts;
}

[[nodiscard]] ENTITABLE_DECL std::vector<key_run> runs_of(table_sample const& sample, double growth) {
    std::vector<std::uint32_t> order(sample.partitions().size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    sort_by_text(sample.partition_keys(), order);
    auto const text = [&](std::size_t index) { return std::string{sample.partition_keys()[order[index]]}; };
    std::vector<key_run> runs;
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin;
        while (end < order.size() && sample.partitions()[order[end]].rows == 1) { ++end; }
        if (end - begin > 1) {
            runs.push_back({text(begin), text(end - 1), end - begin, end == order.size() && growth > growing,
                begin == 0 && growth < -growing});
        }
        begin = end + 1;
    }
    std::stable_sort(
        runs.begin(), runs.end(), [](key_run const& left, key_run const& right) { return left.keys > right.keys; });
    runs.resize(std::min<std::size_t>(10, runs.size()));
    return runs;
}

} // namespace detail

ENTITABLE_DECL census take_census(table_sample const& sample) {
    census made;
    made.declared = sample.declared();
    made.rows = sample.rows();
    made.bytes = sample.bytes();
    made.kept = sample.size();
    made.whole = sample.whole();
    made.cut_short = sample.cut_short();
    made.error_of_half = sample.error_of(0.5);
    std::vector<std::uint64_t> sizes;
    sizes.reserve(sample.partitions().size());
    std::uint32_t largest = 0;
    std::uint64_t most_bytes = 0;
    for (partition_total const& each : sample.partitions()) {
        sizes.push_back(each.rows);
        most_bytes = (std::max)(most_bytes, each.bytes);
        largest = sizes.back() > sizes[largest] ? static_cast<std::uint32_t>(sizes.size() - 1) : largest;
    }
    made.partitions = detail::facts_of_sizes(std::move(sizes));
    made.partitions.largest_bytes = most_bytes;
    if (made.rows > 0) { made.partitions.largest_key = sample.partition_keys()[largest]; }
    for (sample_column const& each : sample.columns()) {
        made.members.push_back(detail::facts_of_member(sample, each));
    }
    if (member_facts const* key = made.find("PartitionKey")) { made.key_growth = key->growth; }
    made.runs = detail::runs_of(sample, made.key_growth.value_or(0));
    made.writes = heat_map::of(sample);
    return made;
}

ENTITABLE_DECL member_facts const* census::find(std::string_view name) const noexcept {
    for (member_facts const& each : members) {
        if (each.name == name) { return &each; }
    }
    return nullptr;
}

ENTITABLE_DECL std::string census::to_string() const {
    using detail::figure;
    using detail::percent;
    auto const whole_figure = [](std::uint64_t number) { return figure(static_cast<double>(number)); };
    std::string out = "keys        " + declared.to_string() + '\n';
    out += "entities    " + whole_figure(rows) + ", " + detail::bytes_text(static_cast<double>(bytes));
    out +=
        rows > 0 ? ", " + detail::bytes_text(static_cast<double>(bytes) / static_cast<double>(rows)) + " each\n" : "\n";
    if (!whole) {
        out += "sample      " + whole_figure(kept) + " of them; the error of a share of 50 % is at most " +
            percent(error_of_half, 2) + " (95 of 100 samples)\n";
    }
    if (cut_short) {
        out += "cut short   more entities exist but were not read: this is the beginning of the table, in key "
               "order\n";
    }
    out += "partitions  " + whole_figure(partitions.count) + ": mean " + detail::short_figure(partitions.mean) +
        " entities, median " + whole_figure(partitions.median) + ", 90 % have at most " +
        whole_figure(partitions.of_90_percent) + ", 99 % at most " + whole_figure(partitions.of_99_percent) + '\n';
    out += "largest     " + detail::clipped(partitions.largest_key, 40) + ": " + whole_figure(partitions.largest) +
        " entities, " + percent(partitions.largest_share) + " of all; Gini " + figure(partitions.gini, 3) + '\n';
    if (key_growth) {
        out += "growth      partition keys and time of writing: rank correlation " + figure(*key_growth, 2) + '\n';
    }
    if (!runs.empty()) {
        key_run const& longest = runs.front();
        out += "ranges      " + whole_figure(longest.keys) + " neighbouring partitions with one entity each, " +
            detail::clipped(longest.first, 24) + " to " + detail::clipped(longest.last, 24) +
            (longest.takes_appends || longest.takes_prepends ? ", and every new entity goes there" : "") + '\n';
    }
    detail::text_table table{{"member", "place", "type", "present", "values", "most frequent", "share", "growth"}};
    for (member_facts const& each : members) {
        constexpr std::string_view places[] = {"key", "partition key", "row key", "property"};
        std::string types;
        for (auto const& [type, count] : each.types) {
            types += types.empty() ? "" : "|";
            types += std::string_view{entitable::to_string(type)}.substr(4);
        }
        std::string const values = each.unique ? "unique"
            : each.distinct_most < static_cast<double>(each.distinct) + 0.5
            ? whole_figure(each.distinct)
            : detail::short_figure(static_cast<double>(each.distinct)) + " to " +
                detail::short_figure(each.distinct_most);
        table.add({each.name, std::string{places[static_cast<std::size_t>(each.at)]}, types, percent(each.present, 0),
            values, each.unique || each.frequent.empty() ? "" : each.frequent[0].text,
            each.unique || each.frequent.empty() ? "" : percent(each.frequent[0].share),
            each.growth ? figure(*each.growth, 2) : ""});
    }
    return out + table.to_string(2);
}

ENTITABLE_END_NAMESPACE
