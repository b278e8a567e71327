// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/ranking.hpp>
#include <entitable/advice/detail/scorer.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::size_t most_scored_rows = 100'000;

ENTITABLE_DECL scorer::scorer(table_sample const& sample, workload const& load, service_targets const& targets)
    : sample_(&sample), load_(&load), targets_(targets), rows_(spread_rows(sample.size(), most_scored_rows)) {
    fraction_ = sample.rows() == 0 ? 1 : static_cast<double>(rows_.size()) / static_cast<double>(sample.rows());
    std::vector<std::int64_t> times;
    for (std::size_t const row : rows_) { times.push_back(sample.times()[row]); }
    // The latest twentieth of the rows; all rows if times are unknown.
    auto const latest = static_cast<std::ptrdiff_t>(times.size() - times.size() / 20);
    std::vector<std::int64_t> sorted = times;
    std::int64_t since = 0;
    if (times.size() >= 20) {
        std::nth_element(sorted.begin(), sorted.begin() + latest, sorted.end());
        since = sorted[static_cast<std::size_t>(latest)];
    }
    for (std::int64_t const time : times) { latest_.push_back(time >= since ? 1 : 0); }
    for (asked_query const& each : load.queries()) { queries_.push_back(prepare(each, sample, rows_)); }
}

ENTITABLE_DECL int scorer::column_of(std::string_view member) const noexcept {
    sample_column const* const found = sample_->find(member);
    return found == nullptr ? -1 : static_cast<int>(found - sample_->columns().data());
}

ENTITABLE_DECL std::vector<int> scorer::columns_of(std::vector<declared_component> const& components) const {
    std::vector<int> out;
    for (declared_component const& each : components) {
        if (int const column = each.literal ? -1 : column_of(each.member); column >= 0) { out.push_back(column); }
    }
    return out;
}

ENTITABLE_DECL row_groups const& scorer::groups(std::vector<int> columns) {
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    auto const [place, is_new] = groups_.try_emplace(columns);
    row_groups& made = place->second;
    if (!is_new) { return made; }
    made.of_row.assign(rows_.size(), 0);
    std::uint32_t count = rows_.empty() ? 0 : 1;
    for (int const column : columns) {
        std::vector<std::uint32_t> const& codes = sample_->columns()[static_cast<std::size_t>(column)].codes;
        pair_numbers numbers{rows_.size()};
        for (std::size_t index = 0; index < rows_.size(); ++index) {
            made.of_row[index] = numbers.number_of(made.of_row[index], codes[rows_[index]]);
        }
        count = numbers.size();
    }
    made.sizes.assign(count, 0);
    for (std::uint32_t const group : made.of_row) { ++made.sizes[group]; }
    return made;
}

ENTITABLE_DECL bool scorer::is_unique(std::vector<std::string> const& members) {
    std::vector<int> columns;
    for (std::string const& each : members) { columns.push_back(column_of(each)); }
    std::erase(columns, -1);
    return groups(std::move(columns)).sizes.size() == rows_.size();
}

ENTITABLE_DECL partition_facts scorer::partitions_of(std::vector<std::string> const& members) {
    std::vector<int> columns;
    for (std::string const& each : members) { columns.push_back(column_of(each)); }
    std::erase(columns, -1);
    std::vector<std::uint64_t> sizes;
    std::size_t once = 0;
    for (std::uint32_t const size : groups(std::move(columns)).sizes) {
        once += size == 1 ? 1U : 0U;
        sizes.push_back(static_cast<std::uint64_t>(std::round(rows_behind(size))));
    }
    partition_facts facts = facts_of_sizes(std::move(sizes));
    if (fraction_ < 1 && facts.count > 0) {
        // Adds the partitions that the sample missed, as is done for the values of a member.
        double const all = static_cast<double>(sample_->rows());
        double const seen_often = static_cast<double>(facts.count - once);
        double const up = 1 / fraction_;
        double const count = once == rows_.size() ? all : std::sqrt(up) * static_cast<double>(once) + seen_often;
        facts.count = static_cast<std::uint64_t>(std::round(count));
        facts.mean = all / count;
        facts.largest_share = static_cast<double>(facts.largest) / all;
    }
    return facts;
}

ENTITABLE_DECL double scorer::growth_of(std::string const& member) {
    auto const [place, is_new] = growth_.try_emplace(member, 0.0);
    if (int const column = column_of(member); is_new && column >= 0) {
        place->second = detail::growth_of(*sample_, sample_->columns()[static_cast<std::size_t>(column)]).value_or(0);
    }
    return place->second;
}

// ---- a query under a declaration -------------------------------------------------------------------------------

ENTITABLE_DECL narrowed scorer::narrow(
    prepared_query const& query, asked_alternative const& alternative, key_declaration const& declared) const {
    narrowed made;
    bool open = false; ///< an earlier component is not fixed to one value
    bool first = true;
    bool partitions_fixed = true;
    bool rows_fixed = true;
    bool some_row = false;
    for (key_part const part : {key_part::partition, key_part::row}) {
        auto const& components = part == key_part::partition ? declared.partition : declared.row;
        bool& all_fixed = part == key_part::partition ? partitions_fixed : rows_fixed;
        bool first_of_part = true;
        for (declared_component const& each : components) {
            if (each.literal) { continue; }
            int const column = column_of(each.member);
            bool fixed = false;
            std::vector<std::size_t> bounds;
            for (std::size_t const leaf : alternative) {
                if (query.leaves[leaf].column == column && column >= 0) {
                    fixed = fixed || query.leaves[leaf].equality;
                    if (query.leaves[leaf].range) { bounds.push_back(leaf); }
                }
            }
            all_fixed = all_fixed && fixed;
            if (!open && fixed) {
                made.fixed.push_back(column);
            } else if (!open) {
                if (!bounds.empty() && each.ordered) {
                    made.bounds = bounds;
                    made.buckets = each.buckets > 0 ? each.buckets : 1;
                }
            }
            bool const narrows = !open && (fixed || (!bounds.empty() && each.ordered));
            if (!bounds.empty() && !fixed && !each.ordered) { made.unordered = each.member; }
            some_row = some_row || (part == key_part::row && first_of_part && narrows);
            first = first && !(part == key_part::partition && narrows);
            open = open || !fixed;
            first_of_part = false;
        }
        if (part == key_part::partition && !partitions_fixed) {
            made.access = first ? access_path::table : access_path::partition_range;
            if (first) {
                made.fixed.clear();
                made.bounds.clear();
                made.buckets = 1;
            }
            return made;
        }
    }
    made.one_partition = true;
    made.access = rows_fixed ? access_path::point : some_row ? access_path::row_range : access_path::partition;
    return made;
}

ENTITABLE_DECL double scorer::mean_rows(prepared_query const& query, asked_alternative const& alternative,
    std::vector<int> const& fixed, std::vector<std::size_t> const& bounds, double per_second,
    row_groups const* partitions, std::vector<double>* loads, double* most) {
    row_groups const& by_value = groups(fixed);
    query_rate const& rate = query.asked->rate;
    std::size_t const count = by_value.sizes.size();
    auto const satisfies = [&](std::size_t row, std::vector<std::size_t> const& leaves) {
        return std::all_of(
            leaves.begin(), leaves.end(), [&](std::size_t leaf) { return query.leaves[leaf].rows[row] != 0; });
    };
    std::vector<double> inside(count); ///< examined rows of each group
    std::vector<char> chosen(count, 1);
    if (query.values == asked_values::given) {
        std::fill(chosen.begin(), chosen.end(), char{0});
        std::vector<std::size_t> equalities;
        for (std::size_t const leaf : alternative) {
            bool const counts = query.leaves[leaf].equality &&
                std::find(fixed.begin(), fixed.end(), query.leaves[leaf].column) != fixed.end();
            if (counts) { equalities.push_back(leaf); }
        }
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            if (satisfies(row, equalities)) { chosen[by_value.of_row[row]] = 1; }
        }
    }
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        inside[by_value.of_row[row]] += satisfies(row, bounds) ? 1 : 0;
    }
    // The probability that each group is queried.
    std::vector<double> likely(count);
    if (rate.zipf > 0 && query.values != asked_values::given) {
        std::vector<std::uint32_t> order(count);
        std::iota(order.begin(), order.end(), std::uint32_t{0});
        std::sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
            return by_value.sizes[left] != by_value.sizes[right] ? by_value.sizes[left] > by_value.sizes[right]
                                                                 : left < right;
        });
        for (std::size_t rank = 0; rank < count; ++rank) {
            likely[order[rank]] = std::pow(static_cast<double>(rank + 1), -rate.zipf);
        }
    } else {
        for (std::size_t group = 0; group < count; ++group) {
            likely[group] = chosen[group] == 0            ? 0
                : query.values == asked_values::as_stored ? by_value.sizes[group]
                                                          : 1;
        }
    }
    double const all = std::accumulate(likely.begin(), likely.end(), 0.0);
    double mean = 0;
    std::vector<double> of_one_row(count); ///< expected number of times that one query examines a row of the group
    for (std::size_t group = 0; group < count && all > 0; ++group) {
        double const rows = inside[group] <= 0 ? 0
            : bounds.empty()                   ? rows_behind(inside[group])
                                               : inside[group] / fraction_;
        mean += likely[group] / all * rows;
        if (most != nullptr && likely[group] > 0) { *most = (std::max)(*most, rows); }
        // A group in the sample represents only itself, and not groups that the sample missed.
        bool const by_rows = query.values == asked_values::as_stored && rate.zipf <= 0;
        double const share =
            by_rows ? rows_behind(by_value.sizes[group]) / static_cast<double>(sample_->rows()) : likely[group] / all;
        of_one_row[group] = inside[group] <= 0 ? 0 : share * rows / inside[group];
    }
    if (loads != nullptr) {
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            if (satisfies(row, bounds)) {
                (*loads)[partitions->of_row[row]] += per_second * of_one_row[by_value.of_row[row]];
            }
        }
    }
    return mean;
}

ENTITABLE_DECL void scorer::score_query(prepared_query const& query, key_declaration const& declared,
    row_groups const& partitions, std::vector<double>& loads, key_score& into) {
    query_score made;
    made.name = query.asked->name;
    made.access = access_path::point;
    made.latency = std::chrono::duration<double>(query.asked->rate.latency).count();
    double const per_second = query.asked->rate.per_second;
    double const all_rows = static_cast<double>(sample_->rows());
    for (asked_alternative const& alternative : query.alternatives) {
        narrowed const way = narrow(query, alternative, declared);
        made.access = (std::max)(made.access, way.access);
        made.unordered = made.unordered.empty() ? way.unordered : made.unordered;
        double const examined = mean_rows(query, alternative, way.fixed, way.bounds, per_second, &partitions, &loads);
        std::vector<int> all_fixed;
        std::vector<std::size_t> filters;
        for (std::size_t const leaf : alternative) {
            if (query.leaves[leaf].equality && query.leaves[leaf].column >= 0) {
                all_fixed.push_back(query.leaves[leaf].column);
                std::string const& name = sample_->columns()[static_cast<std::size_t>(query.leaves[leaf].column)].name;
                bool const known = std::find(made.averaged.begin(), made.averaged.end(), name) != made.averaged.end();
                if (query.values != asked_values::given && !known) { made.averaged.push_back(name); }
            } else {
                filters.push_back(leaf);
            }
        }
        double most = 0;
        double const returned =
            (std::min)(examined, mean_rows(query, alternative, all_fixed, filters, 0, nullptr, nullptr, &most));
        made.most_returned += most;
        made.examined += examined;
        made.returned += returned;
        made.ranges += way.buckets;
        made.requests += (std::max)(way.buckets, std::ceil(returned / targets_.page_rows));
        double const touched = static_cast<double>(into.partitions.count) * (all_rows > 0 ? examined / all_rows : 0);
        made.partitions += way.one_partition ? 1 : (std::max)(1.0, touched);
    }
    if (query.values == asked_values::given) {
        // Alternatives may overlap; the query as written has been evaluated for each row.
        made.returned = (std::min)(made.examined, static_cast<double>(query.satisfied) / fraction_);
        made.most_returned = made.returned;
    }
    made.seconds = made.requests * targets_.seconds_per_request + made.examined * targets_.seconds_per_row;
    made.load = per_second * made.examined;
    into.total += made.load;
    into.cost += query.asked->weight() * made.seconds;
    into.queries.push_back(std::move(made));
}

ENTITABLE_DECL double scorer::growth_of(key_declaration const& declared) {
    // The first member determines the order of partitions; a leading bucket destroys it.
    auto const first = std::find_if(declared.partition.begin(), declared.partition.end(),
        [](declared_component const& each) { return !each.literal; });
    if (first == declared.partition.end() || first->buckets > 0) { return 0; }
    sample_column const* const column = sample_->find(first->member);
    // Components of keys are in the sample in the form of the keys, already reversed.
    bool const reversed = first->descending && column != nullptr && column->at == sample_column::place::property;
    return reversed ? -growth_of(first->member) : growth_of(first->member);
}

ENTITABLE_DECL std::string scorer::key_text(std::vector<int> const& columns, std::size_t row) const {
    std::string text = columns.empty() ? "all" : "";
    for (int const column : columns) {
        sample_column const& of = sample_->columns()[static_cast<std::size_t>(column)];
        std::uint32_t const code = of.codes[rows_[row]];
        text += text.empty() ? "" : "__";
        text += code == sample_column::absent           ? std::string{absent_key_text}
            : of.value(code).type() == edm_type::string ? std::string{of.value(code).bytes()}
                                                        : entitable::value{of.value(code)}.to_string();
    }
    return text;
}

ENTITABLE_DECL key_score scorer::score(key_declaration const& declared) {
    key_score made;
    made.declared = declared;
    std::vector<std::string> members;
    std::vector<std::string> of_partition;
    for (key_part const part : {key_part::partition, key_part::row}) {
        for (declared_component const& each : part == key_part::partition ? declared.partition : declared.row) {
            if (!each.literal) {
                members.push_back(each.member);
                if (part == key_part::partition) { of_partition.push_back(each.member); }
            }
        }
    }
    made.unique = is_unique(members);
    made.partitions = partitions_of(of_partition);
    bool const present = declared.partition == sample_->declared().partition && fraction_ < 1;
    if (present) {
        std::vector<std::uint64_t> sizes;
        for (partition_total const& each : sample_->partitions()) { sizes.push_back(each.rows); }
        made.partitions = facts_of_sizes(std::move(sizes));
    }

    std::vector<int> const columns = columns_of(declared.partition);
    row_groups const partitions = groups(columns); // copied, because more groups are added below
    std::vector<double> loads(partitions.sizes.size());
    for (prepared_query const& each : queries_) { score_query(each, declared, partitions, loads, made); }
    add_writes(partitions, loads);
    double const writes = load_->writes_per_second();
    made.total += writes;
    auto const hottest = std::max_element(loads.begin(), loads.end());
    if (hottest != loads.end()) {
        made.hottest = *hottest;
        auto const group = static_cast<std::uint32_t>(hottest - loads.begin());
        std::size_t row = 0;
        while (partitions.of_row[row] != group) { ++row; }
        made.hottest_key = key_text(columns, row);
    }
    made.growth = growth_of(declared);
    if (std::fabs(made.growth) > growing) { made.hottest = (std::max)(made.hottest, writes); }
    made.transactions = load_->largest_transaction() <= 1 || made.partitions.mean >= 2;
    bool const by_size = made.transactions;
    for (asked_writes const& each : load_->all_writes()) {
        double requests = each.rate.per_second / (by_size ? each.rate.per_transaction : 1);
        if (!each.rate.together.empty()) {
            made.together.push_back(together(each, columns));
            together_score const& of = made.together.back();
            made.transactions = made.transactions && of.always();
            requests = each.rate.per_second / of.entities * of.requests();
        }
        made.cost += requests * each.rate.priority * targets_.seconds_per_request;
    }
    double const bytes = sample_->rows() == 0 ? 0
                                              : static_cast<double>(sample_->bytes()) /
            static_cast<double>(sample_->rows()) * static_cast<double>(made.partitions.largest);
    made.fits = made.hottest <= targets_.partition_rate && made.total <= targets_.account_rate &&
        (targets_.partition_bytes <= 0 || bytes <= targets_.partition_bytes);
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
