// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/ranking.hpp>
#include <entitable/advice/detail/scorer.hpp>
#include <entitable/advice/sharding/shard_advice.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the largest number divided by the mean; 1 if all are zero.
[[nodiscard]] ENTITABLE_DECL double unevenness(std::vector<double> const& of) noexcept {
    double const all = std::accumulate(of.begin(), of.end(), 0.0);
    return all <= 0 ? 1 : *std::max_element(of.begin(), of.end()) * static_cast<double>(of.size()) / all;
}

[[nodiscard]] ENTITABLE_DECL result<void> check_shards(
    table_sample const& sample, shard_key const& key, shard_options const& options) {
    std::uint32_t const number = key.shards.number();
    if (number < 1 || number > virtual_shards::most || options.stores < 1 || options.stores > virtual_shards::most) {
        return failure{error_code::out_of_range_input,
            "shard key '" + key.name + "': the numbers of virtual shards and of stores must be 1 to 900"};
    }
    for (std::string const& each : key.members) {
        if (sample.size() > 0 && sample.find(each) == nullptr) {
            return failure{error_code::invalid_input,
                "shard key '" + key.name + "' has the member '" + each + "', which no row of the sample has"};
        }
    }
    for (std::size_t shard = 0; shard < options.store_of.size(); ++shard) {
        if (options.store_of[shard] >= options.stores) {
            return failure{error_code::invalid_input,
                "shard " + std::to_string(shard) + " is in store " + std::to_string(options.store_of[shard]) +
                    ", which does not exist"};
        }
    }
    return {};
}

/// Adds the shards that one alternative of a query asks.
ENTITABLE_DECL void add_asked_shards(std::set<std::uint32_t>& asked, prepared_query const& query,
    asked_alternative const& alternative, shard_key_score const& under, scorer const& scores) {
    shard_key const& key = under.key;
    std::string fixed;
    std::vector<std::size_t> bounds;
    std::size_t found = 0;
    for (std::string const& member : key.members) {
        int const column = scores.column_of_member(member);
        bool is_fixed = false;
        for (std::size_t const leaf : alternative) {
            asked_leaf const& test = query.leaves[leaf];
            if (column < 0 || test.column != column) { continue; }
            if (test.equality && !is_fixed) {
                fixed += (fixed.empty() ? "" : "__") + test.text;
                is_fixed = true;
            }
            if (test.range && key.members.size() == 1) { bounds.push_back(leaf); }
        }
        found += is_fixed ? 1U : 0U;
    }
    if (found == key.members.size() && !key.members.empty()) {
        asked.insert(key.shards.shard_of(fixed).value_or(0));
        return;
    }
    std::uint32_t from = 0;
    std::uint32_t to = key.shards.number();
    if (key.shards.by_ranges() && !bounds.empty()) {
        // The ranges between the first and the last row that satisfies the bounds; one range at least.
        std::vector<double> inside = scores.rows_of_values(key.members[0], query, bounds);
        from = to;
        std::uint32_t last = 0;
        for (std::size_t group = 0; group < inside.size() && group < under.groups.size(); ++group) {
            if (inside[group] <= 0 || !under.groups[group].shard) { continue; }
            from = (std::min)(from, *under.groups[group].shard);
            last = (std::max)(last, *under.groups[group].shard + 1);
        }
        to = (std::max)(last, from == to ? 1U : last);
        from = (std::min)(from, to - 1);
    }
    for (std::uint32_t shard = from; shard < to; ++shard) { asked.insert(shard); }
}

/// Scores a shard key with a scorer that is used for several.
[[nodiscard]] ENTITABLE_DECL shard_key_score score_one(
    scorer& scores, workload const& load, shard_key const& key, shard_options const& options) {
    shard_key_score made;
    made.key = key;
    made.stores = options.stores;
    std::uint32_t const number = key.shards.number();
    for (std::uint32_t shard = 0; shard < number; ++shard) {
        made.store_of.push_back(shard < options.store_of.size() ? options.store_of[shard] : shard % options.stores);
    }
    made.rows.assign(number, 0);
    made.load.assign(number, 0);
    made.store_rows.assign(options.stores, 0);
    made.store_load.assign(options.stores, 0);
    made.writes = load.writes_per_second();
    table_sample const& sample = scores.sample();
    made.bytes_of_row =
        sample.rows() == 0 ? 0 : static_cast<double>(sample.bytes()) / static_cast<double>(sample.rows());
    partition_loads const parts = scores.loads_by(sample.declared(), key.members, key.members.size());
    made.growth = parts.growth;
    for (std::size_t group = 0; group < parts.loads.size(); ++group) {
        shard_group one{
            parts.keys[group], key.shards.shard_of(parts.keys[group]), parts.rows[group], parts.loads[group]};
        if (one.shard && *one.shard < number) {
            made.rows[*one.shard] += one.rows;
            made.load[*one.shard] += one.load;
            made.store_rows[made.store_of[*one.shard]] += one.rows;
            made.store_load[made.store_of[*one.shard]] += one.load;
        } else {
            made.unmapped_rows += one.rows;
        }
        made.groups.push_back(std::move(one));
    }
    std::vector<std::string> declared;
    for (declared_component const& each : sample.declared().partition) {
        if (!each.literal) { declared.push_back(each.member); }
    }
    made.first =
        key.members.size() <= declared.size() && std::equal(key.members.begin(), key.members.end(), declared.begin());
    made.fits = std::all_of(made.store_load.begin(), made.store_load.end(),
        [&](double each) { return each <= options.targets.account_rate; });
    for (prepared_query const& query : scores.queries()) {
        std::set<std::uint32_t> asked;
        for (asked_alternative const& each : query.alternatives) { add_asked_shards(asked, query, each, made, scores); }
        shard_query_score one{
            query.asked->name, query.asked->rate.per_second, static_cast<std::uint32_t>(asked.size()), {}};
        one.shards.assign(asked.begin(), asked.end());
        made.requests += one.per_second * one.asked;
        made.queries.push_back(std::move(one));
    }
    return made;
}

[[nodiscard]] ENTITABLE_DECL std::array<double, 7> rank_of_shard_key(shard_key_score const& of) {
    bool const grows = of.key.shards.by_ranges() && std::fabs(of.growth) > growing && of.writes > 0;
    double const requests = of.requests > 0 ? std::floor(std::log(of.requests) / std::log(1.05)) : -1e9;
    return {of.unmapped_rows > 0 ? 1.0 : 0.0, of.fits ? 0.0 : 1.0, grows ? 1.0 : 0.0, requests, of.load_evenness(),
        of.store_evenness(), of.first ? 0.0 : 1.0};
}

/// Returns the keys at which ranges of a member have as many rows each.
[[nodiscard]] ENTITABLE_DECL std::vector<std::string> even_bounds(
    std::vector<shard_group> groups, std::uint32_t ranges) {
    std::sort(groups.begin(), groups.end(),
        [](shard_group const& left, shard_group const& right) { return text::compare_utf16(left.key, right.key) < 0; });
    double all = 0;
    for (shard_group const& each : groups) { all += each.rows; }
    std::vector<std::string> bounds;
    double before = 0;
    for (shard_group const& each : groups) {
        bool const full = before >= all * static_cast<double>(bounds.size() + 1) / ranges;
        if (full && before > 0 && bounds.size() + 1 < ranges) { bounds.push_back(each.key); }
        before += each.rows;
    }
    return bounds;
}

ENTITABLE_DECL text_table shard_key_rows(shard_advice const& of) {
    text_table table{{"", "shard key", "requests/s", "fullest shard", "fullest store", "busiest store/s", "verdict"}};
    std::size_t number = 0;
    for (shard_key_score const& each : of.candidates) {
        double const busiest =
            each.store_load.empty() ? 0 : *std::max_element(each.store_load.begin(), each.store_load.end());
        std::string verdict = each.fits ? "fits" : "does not fit";
        if (each.unmapped_rows > 0) { verdict += ", " + figure(each.unmapped_rows) + " rows have no shard"; }
        if (!each.first) { verdict += ", needs other keys"; }
        if (each.key.shards.by_ranges() && std::fabs(each.growth) > growing) {
            verdict += ", one range gets all writes";
        }
        table.add({std::to_string(++number), each.key.name, short_figure(each.requests),
            figure(each.shard_evenness(), 2) + " x mean", figure(each.store_evenness(), 2) + " x mean",
            short_figure(busiest), verdict});
    }
    return table;
}

ENTITABLE_DECL text_table shard_query_rows(shard_advice const& of, std::size_t most) {
    std::size_t const shown = (std::min)(most, of.candidates.size());
    std::vector<std::string> head{"query"};
    for (std::size_t index = 0; index < shown; ++index) { head.push_back("key " + std::to_string(index + 1)); }
    text_table table{std::move(head)};
    for (std::size_t query = 0; shown > 0 && query < of.candidates[0].queries.size(); ++query) {
        std::vector<std::string> cells{of.candidates[0].queries[query].name};
        for (std::size_t index = 0; index < shown; ++index) {
            cells.push_back(std::to_string(of.candidates[index].queries[query].asked));
        }
        table.add(std::move(cells));
    }
    return table;
}

} // namespace detail

ENTITABLE_DECL double shard_key_score::shard_evenness() const noexcept { return detail::unevenness(rows); }
ENTITABLE_DECL double shard_key_score::store_evenness() const noexcept { return detail::unevenness(store_rows); }
ENTITABLE_DECL double shard_key_score::load_evenness() const noexcept { return detail::unevenness(store_load); }

ENTITABLE_DECL store_loss shard_key_score::without(std::uint32_t store) const {
    store_loss made;
    double const all = std::accumulate(store_rows.begin(), store_rows.end(), 0.0);
    made.rows_share = store < stores && all > 0 ? store_rows[store] / all : 0;
    made.failing = writes * made.rows_share;
    made.served = writes - made.failing;
    for (shard_query_score const& each : queries) {
        bool const met = std::any_of(
            each.shards.begin(), each.shards.end(), [&](std::uint32_t shard) { return store_of[shard] == store; });
        if (each.asked == 1) {
            made.failing += each.per_second * made.rows_share;
            made.served += each.per_second * (1 - made.rows_share);
        } else {
            (met ? made.partial : made.served) += each.per_second;
        }
    }
    return made;
}

ENTITABLE_DECL result<shard_lifetime> months_until_full(shard_key_score const& of, shard_growth const& growth) {
    auto const is_growth = [](double percent) { return percent >= 0 && percent <= 1'000; };
    bool good = growth.store_bytes > 0 && growth.store_bytes <= 1e18 && growth.bytes >= 0 && growth.bytes <= 1e18 &&
        is_growth(growth.percent_a_month);
    for (auto const& [value, percent] : growth.of) { good = good && is_growth(percent); }
    if (!good) {
        return failure{error_code::out_of_range_input,
            "a growth of shards must be 0 to 1,000 % a month, and the bytes of a store positive and at most 10^18"};
    }
    double const rows = std::accumulate(of.rows.begin(), of.rows.end(), 0.0);
    double const each_row = growth.bytes > 0 && rows > 0 ? growth.bytes / rows : of.bytes_of_row;
    auto const sizes_at = [&](double months) {
        std::vector<double> sizes(of.rows.size());
        for (shard_group const& group : of.groups) {
            if (!group.shard || *group.shard >= sizes.size()) { continue; }
            auto const own = growth.of.find(group.key);
            double const percent = own == growth.of.end() ? growth.percent_a_month : own->second;
            sizes[*group.shard] += group.rows * each_row * std::pow(1 + percent / 100, months);
        }
        return sizes;
    };
    auto const in_stores = [&](std::vector<double> const& sizes) {
        std::vector<double> stores(of.stores);
        for (std::size_t shard = 0; shard < sizes.size(); ++shard) { stores[of.store_of[shard]] += sizes[shard]; }
        return stores;
    };
    auto const itself = [](std::vector<double> sizes) { return sizes; };
    // Sizes never shrink: the first month is found by halving.
    constexpr double longest = 1'200;
    auto const first_month = [&](auto const& seen) {
        auto const full = [&](double month) {
            std::vector<double> const sizes = seen(sizes_at(month));
            return !sizes.empty() && *std::max_element(sizes.begin(), sizes.end()) > growth.store_bytes;
        };
        if (full(0)) { return 0.0; }
        if (!full(longest)) { return std::numeric_limits<double>::infinity(); }
        double before = 0;
        double after = longest;
        for (int step = 0; step < 60; ++step) {
            double const middle = (before + after) / 2;
            (full(middle) ? after : before) = middle;
        }
        return after;
    };
    auto const largest = [](std::vector<double> const& sizes) {
        return static_cast<std::uint32_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
    };
    result<shard_lifetime> made{std::in_place};
    made->store_months = first_month(in_stores);
    made->shard_months = first_month(itself);
    made->store = largest(in_stores(sizes_at((std::min)(made->store_months, longest))));
    std::vector<double> sizes = sizes_at((std::min)(made->shard_months, longest));
    made->shard = largest(sizes);
    // First fit of the largest shards first.
    std::sort(sizes.begin(), sizes.end(), std::greater<>{});
    std::vector<double> room;
    for (double const size : sizes) {
        auto const place =
            std::find_if(room.begin(), room.end(), [&](double used) { return used + size <= growth.store_bytes; });
        if (place != room.end()) {
            *place += size;
        } else {
            room.push_back(size);
        }
    }
    made->stores_then = static_cast<std::uint32_t>(room.size());
    return made;
}

ENTITABLE_DECL result<shard_key_score> score_shards(
    table_sample const& sample, workload const& load, shard_key const& key, shard_options const& options) {
    ENTITABLE_CHECK(load.validate());
    ENTITABLE_CHECK(detail::check_shards(sample, key, options));
    detail::scorer scores{sample, load, options.targets};
    return detail::score_one(scores, load, key, options);
}

ENTITABLE_DECL result<shard_advice> advise_shards(
    table_sample const& sample, workload const& load, shard_options const& options) {
    ENTITABLE_CHECK(load.validate());
    if (options.number < 1 || options.number > virtual_shards::most) {
        return failure{error_code::out_of_range_input, "the number of virtual shards must be 1 to 900"};
    }
    detail::scorer scores{sample, load, options.targets};
    std::vector<std::vector<std::string>> wanted(1);
    for (declared_component const& each : sample.declared().partition) {
        if (!each.literal && sample.find(each.member) != nullptr) { wanted[0].push_back(each.member); }
    }
    if (!wanted[0].empty()) { wanted.push_back({wanted[0].front()}); }
    for (detail::prepared_query const& query : scores.queries()) {
        for (detail::asked_leaf const& leaf : query.leaves) {
            if (leaf.equality && leaf.column >= 0) {
                wanted.push_back({sample.columns()[static_cast<std::size_t>(leaf.column)].name});
            }
        }
    }
    std::vector<shard_key> keys;
    for (std::size_t at = 0; at < wanted.size(); ++at) {
        if (wanted[at].empty() ||
            std::find(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(at), wanted[at]) !=
                wanted.begin() + static_cast<std::ptrdiff_t>(at)) {
            continue;
        }
        std::string name;
        for (std::string const& each : wanted[at]) { name += (name.empty() ? "hash of " : ", ") + each; }
        keys.push_back({name, wanted[at], virtual_shards{options.number}});
    }
    result<shard_advice> made{std::in_place};
    made->stores = options.stores;
    made->rows = sample.rows();
    if (!wanted[0].empty()) {
        shard_key by_range{"ranges of " + wanted[0][0], {wanted[0][0]}, virtual_shards{1}};
        ENTITABLE_CHECK(detail::check_shards(sample, by_range, {}));
        by_range.shards = virtual_shards::ranges(
            detail::even_bounds(detail::score_one(scores, load, by_range, {}).groups, (std::max)(options.stores, 1U)));
        keys.push_back(std::move(by_range));
    }
    keys.insert(keys.end(), options.also.begin(), options.also.end());
    for (shard_key const& each : keys) {
        ENTITABLE_CHECK(detail::check_shards(sample, each, options));
        made->candidates.push_back(detail::score_one(scores, load, each, options));
    }
    std::stable_sort(made->candidates.begin(), made->candidates.end(),
        [](shard_key_score const& left, shard_key_score const& right) {
            return detail::rank_of_shard_key(left) < detail::rank_of_shard_key(right);
        });
    return made;
}

ENTITABLE_DECL std::string shard_advice::to_string() const {
    std::string out = detail::figure(static_cast<double>(rows)) + " entities over " +
        detail::counted(stores, "store", "stores") + ", the best shard key first\n" +
        detail::shard_key_rows(*this).to_string(2);
    if (!candidates.empty() && !candidates[0].queries.empty()) {
        out += "\nShards that each query asks\n" + detail::shard_query_rows(*this, 8).to_string(2);
    }
    if (!candidates.empty()) {
        shard_key_score const& best = candidates[0];
        out += "\nIf a store is down, by " + best.key.name + "\n";
        detail::text_table lost{{"store", "rows", "fail/s", "partial/s", "served/s"}};
        for (std::uint32_t store = 0; store < stores && store < 12; ++store) {
            store_loss const loss = best.without(store);
            lost.add({std::to_string(store), detail::percent(loss.rows_share), detail::short_figure(loss.failing),
                detail::short_figure(loss.partial), detail::short_figure(loss.served)});
        }
        out += lost.to_string(2);
    }
    return out;
}

ENTITABLE_END_NAMESPACE
