// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/candidates.hpp>
#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/detail/ranking.hpp>

#include <algorithm>
#include <cmath>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL bool has(component_names const& all, std::string const& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}
[[nodiscard]] ENTITABLE_DECL bool has_all(component_names const& all, component_names const& some) {
    return std::all_of(some.begin(), some.end(), [&](std::string const& each) { return has(all, each); });
}
ENTITABLE_DECL void add_once(component_names& to, component_names const& some) {
    for (std::string const& each : some) {
        if (!has(to, each)) { to.push_back(each); }
    }
}
ENTITABLE_DECL std::string listed(component_names const& all) {
    std::string out;
    for (std::string const& each : all) { out += (out.empty() ? "" : ", ") + each; }
    return out;
}

/// Whether a member's type can be part of a key.
[[nodiscard]] ENTITABLE_DECL bool can_be_key(table_sample const& sample, std::string const& member) {
    sample_column const* const column = sample.find(member);
    if (column == nullptr || column->values.size() == 0) { return false; }
    edm_type const type = column->value(0).type();
    return type != edm_type::float64 && type != edm_type::boolean && type != edm_type::binary;
}

ENTITABLE_DECL std::vector<query_members> dominant_queries(scorer const& scores, key_score const& present) {
    std::vector<std::size_t> order;
    double all = 0;
    for (std::size_t index = 0; index < scores.queries().size(); ++index) {
        order.push_back(index);
        all += scores.queries()[index].asked->weight();
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        return scores.queries()[left].asked->weight() > scores.queries()[right].asked->weight();
    });
    std::vector<query_members> dominant;
    double taken = 0;
    for (std::size_t const index : order) {
        prepared_query const& query = scores.queries()[index];
        double const weight = query.asked->weight();
        if (weight > 0 && (taken < 0.8 * all || present.queries[index].misses_latency())) {
            query_members made{query.asked->name, weight, {}, {}};
            for (asked_leaf const& leaf : query.leaves) {
                if (leaf.column >= 0 && (leaf.equality || leaf.range)) {
                    std::string const& name = scores.sample().columns()[static_cast<std::size_t>(leaf.column)].name;
                    add_once(leaf.equality ? made.fixed : made.ranged, {name});
                }
            }
            std::erase_if(made.ranged, [&](std::string const& each) { return has(made.fixed, each); });
            dominant.push_back(std::move(made));
        }
        taken += weight;
    }
    return dominant;
}

[[nodiscard]] ENTITABLE_DECL std::vector<declared_component> components_of(
    table_sample const& sample, component_names const& members) {
    std::vector<declared_component> made;
    for (std::string const& each : members) {
        declared_component one;
        one.member = each;
        sample_column const* const column = sample.find(each);
        one.text = column != nullptr && column->at == sample_column::place::property &&
            column->value(0).type() == edm_type::string;
        for (auto const* key : {&sample.declared().partition, &sample.declared().row}) {
            for (declared_component const& known : *key) {
                if (!known.literal && known.member == each) {
                    one = known; // a component of the current keys keeps its form
                    one.buckets = 0;
                }
            }
        }
        if (one.text) {
            bool const last = made.size() + 1 == members.size();
            one.ordered = true;
            one.escaped = !last; // text is ordered only as the last component
            one.text = last;
        }
        made.push_back(std::move(one));
    }
    return made;
}

/// Returns the row key for a partition key: the members that narrow the heaviest query that fixes the partition, then the members that make
/// the keys unique.
[[nodiscard]] ENTITABLE_DECL component_names row_for(scorer& scores, component_names const& partition,
    std::vector<query_members> const& dominant, component_names const& declared) {
    component_names row;
    for (query_members const& query : dominant) {
        if (has_all(query.fixed, partition)) {
            add_once(row, query.fixed);
            add_once(row, query.ranged);
            break;
        }
    }
    if (row.empty()) {
        for (query_members const& query : dominant) {
            if (std::any_of(partition.begin(), partition.end(),
                    [&](std::string const& each) { return has(query.fixed, each); })) {
                add_once(row, query.ranged);
                break;
            }
        }
    }
    std::erase_if(
        row, [&](std::string const& each) { return has(partition, each) || !can_be_key(scores.sample(), each); });
    component_names all = partition;
    add_once(all, row);
    component_names suffix;
    for (std::string const& each : declared) { // a single member may make the keys unique
        component_names with = all;
        add_once(with, {each});
        if (!has(all, each) && scores.is_unique(with)) {
            suffix = {each};
            break;
        }
    }
    if (!scores.is_unique(all) || row.empty()) {
        if (suffix.empty()) { suffix = declared; }
        for (std::string const& each : suffix) {
            if (!has(all, each)) {
                row.push_back(each);
                all.push_back(each);
            }
        }
    }
    return row;
}

ENTITABLE_DECL std::string declaration_text(table_sample const& sample, key_declaration const& declared) {
    std::string properties;
    for (sample_column const& each : sample.columns()) {
        auto const is_it = [&](declared_component const& one) { return one.member == each.name; };
        bool const in_key = std::any_of(declared.partition.begin(), declared.partition.end(), is_it) ||
            std::any_of(declared.row.begin(), declared.row.end(), is_it);
        if (!in_key && each.at != sample_column::place::key) {
            properties += (properties.empty() ? "" : ", ") + each.name;
        }
    }
    std::string text = declared.to_string();
    text.replace(text.find(", row_key"), 2, ",\n    ");
    return "ENTITABLE(" + (declared.entity.empty() ? std::string{"entity"} : declared.entity) + ",\n    " + text +
        (properties.empty() ? ")" : ",\n    properties(" + properties + "))");
}

ENTITABLE_DECL void explain_candidate(key_candidate& of, scorer& scores, service_targets const& targets) {
    table_sample const& sample = scores.sample();
    partition_facts const& facts = of.score.partitions;
    double const count = static_cast<double>(facts.count);
    if (facts.count <= 1) {
        of.gains = "transactions over all entities; every query is in one partition";
        of.loses = "one server serves everything: " + figure(targets.partition_rate) + " entities/s at most";
    } else if (facts.mean < 2) {
        of.gains = "the load spreads over as many servers as needed; neighbouring keys may be served as one range";
        of.loses =
            (of.score.together.empty() || !of.score.transactions ? "no transactions" : "no further transactions") +
            std::string{"; a range of keys crosses partitions, and a continuation token may come from each server"};
    } else {
        of.gains =
            "transactions within a partition; the load spreads over " + counted(count, "partition", "partitions");
        of.loses = facts.largest_share > 0.2
            ? "the largest partition has " + percent(facts.largest_share) + " of the entities"
            : "a query that does not fix the partition key visits many of them";
    }
    component_names partition;
    for (declared_component const& each : of.score.declared.partition) {
        if (!each.literal) { partition.push_back(each.member); }
    }
    for (declared_component const& each : of.score.declared.row) {
        if (each.literal || has(partition, each.member)) { continue; }
        component_names with = partition;
        with.push_back(each.member);
        partition_facts const finer = scores.partitions_of(with);
        if (finer.largest < facts.largest) {
            of.finer = each.member;
            of.finer_effect = counted(static_cast<double>(finer.count), "partition", "partitions") + ", the largest " +
                figure(static_cast<double>(finer.largest)) + " instead of " +
                figure(static_cast<double>(facts.largest)) + " entities";
            break;
        }
    }
    of.declaration = declaration_text(sample, of.score.declared);
    if (!of.present) {
        double const rows = static_cast<double>(sample.rows());
        of.copy_requests =
            std::ceil(rows / targets.page_rows) + (std::max)(count, std::ceil(rows / targets.batch_rows));
        of.copy_seconds = 2 * rows / targets.account_rate; // each row is read and written
    }
}

/// Returns the partition keys to score, each with the reason.
inline std::vector<std::pair<component_names, std::string>> partitions_to_score(
    scorer& scores, std::vector<query_members> const& dominant, component_names const& declared, workload const& load) {
    table_sample const& sample = scores.sample();
    std::vector<std::pair<component_names, std::string>> wanted;
    component_names pool;
    for (asked_writes const& writes : load.all_writes()) {
        component_names const& shared = writes.rate.together.names();
        bool const usable = !shared.empty() && shared.size() <= 4 &&
            std::all_of(
                shared.begin(), shared.end(), [&](std::string const& each) { return can_be_key(sample, each); });
        if (usable) {
            wanted.emplace_back(shared, "what the entities of one transaction of '" + writes.name + "' share");
        }
    }
    for (query_members const& query : dominant) {
        component_names fixed = query.fixed;
        std::erase_if(fixed, [&](std::string const& each) { return !can_be_key(sample, each); });
        if (!fixed.empty() && fixed.size() <= 4) {
            wanted.emplace_back(fixed, "all members that the query '" + query.name + "' fixes");
        }
        add_once(pool, fixed);
    }
    for (query_members const& query : dominant) { // a range of partitions costs less than a scan
        for (std::string const& each : query.ranged) {
            if (can_be_key(sample, each)) { add_once(pool, {each}); }
        }
    }
    pool.resize(std::min<std::size_t>(6, pool.size()));
    for (std::string const& one : pool) {
        wanted.emplace_back(component_names{one}, "a member that dominant queries use");
    }
    for (std::size_t one = 0; one < pool.size(); ++one) {
        for (std::size_t other = one + 1; other < pool.size(); ++other) {
            wanted.emplace_back(component_names{pool[one], pool[other]},
                "two members that dominant queries use, for smaller partitions");
        }
    }
    for (std::string const& each : declared) {
        if (scores.is_unique({each})) {
            wanted.emplace_back(component_names{each}, "a unique member: the smallest partitions");
            break;
        }
    }
    wanted.emplace_back(component_names{}, "one partition");
    return wanted;
}

ENTITABLE_DECL std::vector<key_candidate> candidates_for(
    scorer& scores, std::vector<query_members> const& dominant, workload const& load, service_targets const& targets) {
    table_sample const& sample = scores.sample();
    component_names declared;
    for (auto const* key : {&sample.declared().partition, &sample.declared().row}) {
        for (declared_component const& each : *key) {
            if (!each.literal) { add_once(declared, {each.member}); }
        }
    }
    std::vector<key_candidate> made;
    auto const add = [&](key_declaration keys, std::string why, bool present = false) {
        for (key_candidate const& each : made) {
            if (each.score.declared.to_string() == keys.to_string()) { return; }
        }
        key_candidate one;
        one.present = present;
        one.reason = std::move(why);
        one.score = scores.score(keys);
        explain_candidate(one, scores, targets);
        made.push_back(std::move(one));
    };
    add(sample.declared(), "the current keys", true);

    for (auto const& [partition, why] : partitions_to_score(scores, dominant, declared, load)) {
        key_declaration keys;
        keys.entity = sample.declared().entity;
        keys.partition = components_of(sample, partition);
        keys.row = components_of(sample, row_for(scores, partition, dominant, declared));
        add(keys, why);
    }
    // If the written keys increase over time, adds a leading bucket: ranges stay possible.
    double const writes = load.writes_per_second();
    for (std::size_t index = 0, count = made.size(); index < count && writes > 0; ++index) {
        key_score const& of = made[index].score;
        if (std::fabs(of.growth) > growing && of.declared.partition.size() == 1) {
            key_declaration salted = of.declared;
            salted.partition[0].descending = false;
            salted.partition[0].buckets =
                static_cast<std::uint32_t>(std::clamp(std::ceil(2 * writes / targets.partition_rate), 4.0, 1000.0));
            add(std::move(salted), "the same keys, spread over buckets: a range query must read every bucket");
        }
    }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
