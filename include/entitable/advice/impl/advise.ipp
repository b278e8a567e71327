// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/advise.hpp>
#include <entitable/advice/detail/candidates.hpp>
#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/detail/ranking.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <array>
#include <cmath>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL std::string_view to_string(finding_kind kind) noexcept {
    constexpr std::string_view words[] = {"one_partition_is_fine", "append_only", "prepend_only", "log_data",
        "few_partitions", "skewed", "too_coarse", "too_fine", "split_transaction", "account_exceeded", "scans",
        "misses_latency", "several_pages", "unordered_range", "two_dominant_queries", "mixed_types"};
    return words[static_cast<std::size_t>(kind)];
}

ENTITABLE_DECL std::string_view to_string(severity how) noexcept {
    constexpr std::string_view words[] = {"fine", "note", "warning", "problem"};
    return words[static_cast<std::size_t>(how)];
}

namespace detail {

/// Collects findings about the current keys.
class judge {
public:
    judge(advice& made, workload const& load, scorer& scores, std::vector<query_members> const& dominant)
        : made_(made),
          load_(load),
          scores_(scores),
          dominant_(dominant),
          present_(made.candidates[made.present].score) {}

    void look() {
        shape_of_partitions();
        granularity();
        for (together_score const& each : present_.together) { transaction(each); }
        account();
        for (query_score const& each : present_.queries) { query(each); }
        index_rows();
        types();
        std::stable_sort(made_.findings.begin(), made_.findings.end(),
            [](finding const& left, finding const& right) { return left.how > right.how; });
    }

private:
    void add(finding_kind kind, severity how, std::string title, std::string evidence, std::string cure) {
        made_.findings.push_back({kind, how, std::move(title), std::move(evidence), std::move(cure)});
    }
    [[nodiscard]] static std::string whole(double number) { return figure(number); }
    /// Warns at half of the target, since a busy hour may double the rate.
    [[nodiscard]] severity by_heat(double rate) const {
        return rate > made_.targets.partition_rate    ? severity::problem
            : 2 * rate > made_.targets.partition_rate ? severity::warning
                                                      : severity::note;
    }
    [[nodiscard]] std::string heat_text(double rate) const {
        return short_figure(rate) + " of " + figure(made_.targets.partition_rate) + " entities/s";
    }
    [[nodiscard]] bool is_dominant(std::string const& name) const {
        return std::any_of(
            dominant_.begin(), dominant_.end(), [&](query_members const& each) { return each.name == name; });
    }
    /// Returns the best keys other than the current keys, as a hint.
    [[nodiscard]] std::string better() const {
        for (key_candidate const& each : made_.candidates) {
            if (each.present) { break; }
            return each.score.declared.to_string();
        }
        return {};
    }
    /// Returns the best keys that rank above the current keys and serve a query in at most `most` seconds.
    [[nodiscard]] std::string better_for(query_score const& query, double most) const {
        auto const at = static_cast<std::size_t>(&query - present_.queries.data());
        for (key_candidate const& each : made_.candidates) {
            if (each.present) { break; }
            if (each.score.queries[at].seconds <= most) { return each.score.declared.to_string(); }
        }
        return {};
    }
    [[nodiscard]] std::string finer_cure() const {
        key_candidate const& present = made_.candidates[made_.present];
        std::string const other = better();
        std::string cure = present.finer.empty()
            ? std::string{"add a member with more distinct values to the partition key"}
            : "append " + present.finer + " to the partition key (" + present.finer_effect + ")";
        return other.empty() ? cure : "use " + other + ", or " + cure;
    }

    void shape_of_partitions() {
        partition_facts const& facts = made_.there.partitions;
        double const count = static_cast<double>(facts.count);
        double const writes = load_.writes_per_second();
        double const growth = present_.growth;
        std::string const correlation = "partition keys and time of writing: rank correlation " + figure(growth, 2);
        if (std::fabs(growth) > growing && facts.count > 10) {
            bool const log = facts.mean >= 10;
            finding_kind const kind = log ? finding_kind::log_data
                : growth > 0              ? finding_kind::append_only
                                          : finding_kind::prepend_only;
            std::string const title = log ? "the newest partition receives all writes"
                : growth > 0              ? "every new entity goes to the end of the table"
                                          : "every new entity goes to the beginning of the table";
            std::string const salt = log ? "put a member that names the entity's origin before the time; if no query "
                                           "reads a time range, write logs to blobs"
                                         : "salted(" +
                    (present_.declared.partition.empty() ? std::string{"member"}
                                                         : present_.declared.partition[0].member) +
                    ", n) spreads them over n buckets, and a range query must read every bucket; a random id also "
                    "spreads them, "
                    "but makes range queries impossible";
            add(kind, by_heat(writes), title, correlation + "; writes " + heat_text(writes) + " at one server", salt);
            return;
        }
        bool const too_large = made_.targets.partition_bytes > 0 &&
            static_cast<double>(facts.largest_bytes) > made_.targets.partition_bytes;
        double const hottest = present_.hottest;
        if (facts.count == 1 && hottest <= made_.targets.partition_rate && !too_large) {
            add(finding_kind::one_partition_is_fine, severity::fine, "one partition is enough",
                heat_text(hottest) + ", " + whole(static_cast<double>(made_.there.rows)) + " entities",
                "nothing to change: transactions can include all entities");
        } else if (facts.count > 1 && facts.count <= 10) {
            add(finding_kind::few_partitions, by_heat(hottest), "only " + whole(count) + " partitions",
                "the busiest has " + heat_text(hottest) + "; together they can serve " +
                    whole(count * made_.targets.partition_rate),
                finer_cure());
        } else if (facts.count > 10 && facts.largest_share >= 0.2 && facts.largest_share >= 5 / count) {
            add(finding_kind::skewed, by_heat(hottest), "one partition has a large share of the table",
                clipped(facts.largest_key, 32) + " has " + percent(facts.largest_share) +
                    " of the entities, the mean is " + percent(1 / count, 2) + "; Gini " + figure(facts.gini, 2) +
                    "; " + heat_text(hottest),
                finer_cure());
        } else if (hottest > made_.targets.partition_rate || too_large) {
            add(finding_kind::too_coarse, severity::problem, "the busiest partition exceeds its target",
                clipped(present_.hottest_key, 32) + ": " + heat_text(hottest) +
                    (too_large ? ", " + bytes_text(static_cast<double>(facts.largest_bytes)) : std::string{}),
                finer_cure());
        }
    }

    void granularity() {
        partition_facts const& facts = made_.there.partitions;
        if (facts.mean >= 2 || facts.count < 100) { return; }
        double const entities = load_.largest_transaction();
        std::string crossing;
        for (query_score const& each : present_.queries) {
            if (each.access == access_path::partition_range && each.partitions >= 10 && is_dominant(each.name)) {
                crossing += (crossing.empty() ? "" : ", ") + each.name + " visits " + short_figure(each.partitions);
            }
        }
        if (entities > 1 || !crossing.empty()) {
            add(finding_kind::too_fine, entities > 1 ? severity::problem : severity::warning,
                "the partitions are too small for the queries and transactions",
                short_figure(facts.mean) + " entities in a partition" +
                    (entities > 1 ? "; transactions of " + short_figure(entities) + " entities are required"
                                  : std::string{}) +
                    (crossing.empty() ? std::string{} : "; " + crossing + " partitions"),
                better().empty() ? "use a coarser partition key" : "use " + better());
        }
    }

    /// Returns the best keys under which the transactions of these writes are possible, of those that begin with the shared members if
    /// there are any.
    [[nodiscard]] key_candidate const* keeps_together(std::size_t writes) const {
        key_candidate const* found = nullptr;
        for (key_candidate const& each : made_.candidates) {
            together_score const& of = each.score.together[writes];
            if (!of.always()) { continue; }
            component_names partition;
            for (declared_component const& one : each.score.declared.partition) { partition.push_back(one.member); }
            if (partition == of.members) { return &each; }
            found = found == nullptr ? &each : found;
        }
        return found;
    }
    void transaction(together_score const& of) {
        if (of.always()) { return; }
        auto const at = static_cast<std::size_t>(&of - present_.together.data());
        bool const too_many = of.largest > made_.targets.batch_rows;
        key_candidate const* const other = keeps_together(at);
        std::string const shared = listed(of.members);
        std::string cure = other == nullptr ? "no key can: write them with a saga, or in steps that can be repeated"
                                            : partition_text(other->score.declared) +
                " can: all entities with the same " + shared + " are in one partition" + indexed_under(other);
        if (other == nullptr && too_many) {
            cure = "split the writes: a transaction has at most " + whole(made_.targets.batch_rows) + " entities";
        }
        add(finding_kind::split_transaction, severity::problem,
            "'" + of.name + "' cannot be one transaction under " + partition_text(present_.declared),
            "all entities with the same " + shared + " can be one transaction in " +
                figure(of.of_100(), of.whole == 0 ? 0 : 1) + " of 100 groups (" + whole(static_cast<double>(of.whole)) +
                " of " + whole(static_cast<double>(of.groups)) + "); a group is in " +
                short_figure(of.partitions_each) + " partitions" +
                (too_many ? "; the largest has " + whole(static_cast<double>(of.largest)) + " entities"
                          : std::string{}),
            std::move(cure));
    }
    /// Returns what keys cost the queries that the current keys serve well: these need index rows.
    [[nodiscard]] std::string indexed_under(key_candidate const* keys) const {
        std::string out;
        for (std::size_t at = 0; keys != nullptr && at < present_.queries.size(); ++at) {
            query_score const& then = keys->score.queries[at];
            if (then.examined > 10 * present_.queries[at].examined && then.examined > 10 * then.returned) {
                out += "; '" + then.name + "' then needs index rows: it would examine " + short_figure(then.examined) +
                    " entities instead of " + short_figure(present_.queries[at].examined);
            }
        }
        return out;
    }
    [[nodiscard]] static std::string partition_text(key_declaration const& of) {
        std::string const text = of.to_string();
        return text.substr(0, text.find(", row_key("));
    }

    void account() {
        if (present_.total > made_.targets.account_rate) {
            add(finding_kind::account_exceeded, severity::problem, "the table needs more than one account",
                short_figure(present_.total) + " of " + figure(made_.targets.account_rate) +
                    " entities/s, the target of one account",
                "make queries examine fewer rows, or spread the table over several accounts");
        }
    }

    void query(query_score const& each) {
        bool const dominant = is_dominant(each.name);
        bool const all = each.access == access_path::table && each.examined > made_.targets.page_rows;
        bool const in_vain = each.selectivity() < 0.1 && each.examined > made_.targets.page_rows;
        std::string const evidence = std::string{entitable::to_string(each.access)} + ": " +
            short_figure(each.examined) + " rows examined for " + short_figure(each.returned) + " returned, at least " +
            (each.requests > 1 ? short_figure(each.requests) + " requests, " : "1 request, ") +
            seconds_text(each.seconds) + " under the model";
        if (dominant && (all || in_vain)) {
            std::string const other = better_for(each, each.seconds / 2);
            add(finding_kind::scans, severity::warning,
                "'" + each.name + (all ? "' reads the whole table" : "' examines rows without returning them"),
                evidence,
                other.empty() ? "add index rows for it: no key made of its members is better for all queries"
                              : "take " + other);
        }
        if (each.misses_latency()) {
            std::string const other = better_for(each, each.latency);
            add(finding_kind::misses_latency, severity::problem, "'" + each.name + "' cannot meet its latency target",
                seconds_text(each.seconds) + " under the model, " + seconds_text(each.latency) + " allowed; " +
                    evidence,
                other.empty() ? "add index rows for it" : "use " + other + ", or add index rows for it");
        }
        pages(each);
        std::string unordered = each.unordered;
        for (prepared_query const& prepared : scores_.queries()) {
            for (asked_leaf const& leaf : prepared.leaves) {
                bool const bounds = prepared.asked->name == each.name && leaf.range && leaf.column >= 0;
                sample_column const* const column =
                    bounds ? &scores_.sample().columns()[static_cast<std::size_t>(leaf.column)] : nullptr;
                member_facts const* const facts = bounds ? made_.there.find(column->name) : nullptr;
                if (facts != nullptr && facts->unpadded_numbers && column->at != sample_column::place::property) {
                    unordered = column->name;
                }
            }
        }
        if (!unordered.empty()) {
            add(finding_kind::unordered_range, severity::problem,
                "'" + each.name + "' has a range condition on unordered keys",
                unordered + " does not preserve the order of its values in the key: \"111\" sorts before \"2\"",
                "write numbers with leading zeros (integer members do), text as the last component or as escaped(" +
                    unordered + ")");
        }
    }

    void pages(query_score const& each) {
        auto const at = static_cast<std::size_t>(&each - present_.queries.data());
        asked_query const& asked = load_.queries()[at];
        if (!asked.rate.one_page) { return; }
        double const page = made_.targets.page_rows;
        double const seconds =
            each.seconds_of_one_page(page, static_cast<double>(made_.there.rows), load_.writes_per_second());
        constexpr double year = 365.0 * 86'400;
        bool const now = seconds <= 0 || each.ranges > 1;
        if (!now && !(seconds < year)) { return; }
        add(finding_kind::several_pages, now ? severity::problem : severity::warning,
            "'" + each.name + (now ? "' is not one page" : "' will not be one page for long"),
            "its largest result has " + short_figure(each.most_returned) + " of at most " + whole(page) +
                " entities in a page" +
                (each.ranges > 1 ? "; it reads " + short_figure(each.ranges) + " ranges of keys"
                        : now    ? std::string{}
                                 : "; at " + short_figure(load_.writes_per_second()) +
                            " new entities/s it has a second page in " + seconds_text(seconds)),
            "append a member to the partition key so that a result stops growing, such as a period, or follow "
            "continuation "
            "tokens");
    }

    /// Reports a dominant query that the best keys serve badly, but other keys would serve well.
    void index_rows() {
        key_candidate const& best = made_.candidates.front();
        for (std::size_t index = 0; index < best.score.queries.size(); ++index) {
            query_score const& left = best.score.queries[index];
            bool const badly =
                is_dominant(left.name) && left.examined > made_.targets.page_rows && left.selectivity() < 0.1;
            key_candidate const* server = nullptr;
            for (key_candidate const& each : made_.candidates) {
                bool const serves = badly && each.score.queries[index].seconds < left.seconds / 10;
                if (serves &&
                    (server == nullptr || each.score.queries[index].seconds < server->score.queries[index].seconds)) {
                    server = &each;
                }
            }
            if (server != nullptr) {
                double const writes = load_.writes_per_second();
                add(finding_kind::two_dominant_queries, severity::warning, "'" + left.name + "' needs index rows",
                    best.score.declared.to_string() + " answers it in " + seconds_text(left.seconds) + "; under " +
                        server->score.declared.to_string() + " it takes " +
                        seconds_text(server->score.queries[index].seconds),
                    "also write each entity as an index row under these keys: " + short_figure(2 * writes) +
                        " instead of " + short_figure(writes) +
                        " entities/s are written; in one transaction if the partition key is the same");
            }
        }
    }

    void types() {
        for (member_facts const& each : made_.there.members) {
            if (each.types.size() > 1) {
                std::string evidence;
                for (auto const& [type, rows] : each.types) {
                    evidence += (evidence.empty() ? "" : ", ") + std::string{entitable::to_string(type)} + " in " +
                        whole(static_cast<double>(rows)) + " rows";
                }
                add(finding_kind::mixed_types, severity::warning, each.name + " has several types", evidence,
                    "a comparison never matches a row with a different type: rewrite the rows so that all have one "
                    "type");
            }
        }
    }

    advice& made_;
    workload const& load_;
    scorer& scores_;
    std::vector<query_members> const& dominant_;
    key_score const& present_;
};

/// Ranks keys by these criteria, in this order: whether they fit, whether they fit with reserve, low cost, no buckets, whether they are the current keys, several partitions of several entities, fine partitions.
[[nodiscard]] ENTITABLE_DECL std::array<double, 8> rank_of(key_candidate const& of, service_targets const& targets) {
    key_score const& score = of.score;
    bool const salted = std::any_of(score.declared.partition.begin(), score.declared.partition.end(),
        [](declared_component const& each) { return each.buckets > 0; });
    bool const roomy = 2 * score.hottest <= targets.partition_rate;
    // Because this is a model, a difference of less than 5 % does not count.
    double const cost = score.cost > 0 ? std::floor(std::log(score.cost) / std::log(1.05)) : -1e9;
    return {score.fits ? 0.0 : 1.0, score.transactions ? 0.0 : 1.0, score.fits && roomy ? 0.0 : 1.0, cost,
        salted ? 1.0 : 0.0, of.present ? 0.0 : 1.0,
        score.partitions.count > 1 && score.partitions.mean >= 2 ? 0.0 : 1.0, score.hottest};
}

} // namespace detail

ENTITABLE_DECL result<advice> advise(table_sample const& sample, workload const& load, service_targets const& targets) {
    ENTITABLE_CHECK(load.validate());
    for (asked_writes const& each : load.all_writes()) {
        for (std::string const& member : each.rate.together.names()) {
            if (sample.size() > 0 && sample.find(member) == nullptr) {
                return failure{error_code::invalid_input,
                    "the writes '" + each.name + "' in the workload share the member '" + member +
                        "', which no row of the sample has"};
            }
        }
    }
    result<advice> out{std::in_place};
    advice& made = *out;
    made.there = take_census(sample);
    made.targets = targets;
    detail::scorer scores{sample, load, targets};
    std::vector<detail::query_members> const dominant =
        detail::dominant_queries(scores, scores.score(sample.declared()));
    for (detail::query_members const& each : dominant) {
        made.dominant.push_back(each.name);
        made.guide.push_back(detail::guide_for(each));
    }
    made.candidates = detail::candidates_for(scores, dominant, load, targets);
    std::stable_sort(
        made.candidates.begin(), made.candidates.end(), [&](key_candidate const& left, key_candidate const& right) {
            return detail::rank_of(left, targets) < detail::rank_of(right, targets);
        });
    while (!made.candidates[made.present].present) { ++made.present; }
    detail::judge{made, load, scores, dominant}.look();
    return out;
}

ENTITABLE_END_NAMESPACE
