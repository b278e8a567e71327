// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/advise.hpp>
#include <entitable/advice/detail/candidates.hpp>
#include <entitable/advice/detail/figures.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL std::string detail::guide_for(query_members const& query) {
    component_names keys = query.fixed;
    add_once(keys, query.ranged);
    std::string const begin = "'" + query.name + "': ";
    if (keys.empty()) { return begin + "no key property: it reads the whole table"; }
    if (keys.size() == 1) { return begin + "one key property: " + keys[0] + " is the PartitionKey"; }
    if (keys.size() == 2) {
        return begin + "two key properties: " + keys[0] + " is the PartitionKey, " + keys[1] + " the RowKey";
    }
    return begin + "more than two key properties: a composite key of " + listed(keys);
}

ENTITABLE_DECL detail::text_table detail::together_rows(advice const& of, std::size_t most) {
    std::vector<std::string> head{"", "keys"};
    for (together_score const& each : of.candidates[of.present].score.together) { head.push_back(each.name); }
    text_table table{std::move(head)};
    for (std::size_t index = 0; index < of.candidates.size(); ++index) {
        key_candidate const& each = of.candidates[index];
        if (index >= most && !each.present) { continue; }
        std::vector<std::string> cells{std::to_string(index + 1), each.score.declared.to_string()};
        for (together_score const& writes : each.score.together) { cells.push_back(figure(writes.of_100(), 1)); }
        table.add(std::move(cells));
    }
    return table;
}

ENTITABLE_DECL finding const* advice::find(finding_kind kind) const noexcept {
    for (finding const& each : findings) {
        if (each.kind == kind) { return &each; }
    }
    return nullptr;
}

ENTITABLE_DECL std::string advice::to_string() const {
    using detail::short_figure;
    std::string out = "Data\n" + there.to_string() + "\nWorkload\n";
    for (std::string const& each : guide) { out += "  " + each + '\n'; }
    detail::text_table asked{
        {"query", "access", "partitions", "examined", "returned", "requests", "time", "load/s", "figures"}};
    for (query_score const& each : candidates[present].score.queries) {
        asked.add({each.name, std::string{entitable::to_string(each.access)}, short_figure(each.partitions),
            short_figure(each.examined), short_figure(each.returned), short_figure(each.requests),
            detail::seconds_text(each.seconds), short_figure(each.load), each.figures_of()});
    }
    out += candidates[present].score.queries.empty() ? std::string{"  nothing\n"} : asked.to_string(2);
    out += "\nFindings\n";
    if (findings.empty()) { out += "  nothing\n"; }
    for (finding const& each : findings) {
        out += "  " + std::string{entitable::to_string(each.how)} + ": " + each.title + " [" +
            std::string{entitable::to_string(each.kind)} + "]\n    because  " + each.evidence + "\n    cure     " +
            each.cure + '\n';
    }
    out += "\nCandidate keys, best first\n";
    detail::text_table keys{{"", "keys", "cost", "busiest/s", "partitions", "largest", ""}};
    std::size_t number = 0;
    for (key_candidate const& each : candidates) {
        ++number;
        if (number > 8 && !each.present) { continue; }
        keys.add({std::to_string(number), each.score.declared.to_string(), short_figure(each.score.cost),
            short_figure(each.score.hottest), detail::figure(static_cast<double>(each.score.partitions.count)),
            detail::figure(static_cast<double>(each.score.partitions.largest)),
            std::string{each.present ? "present" : ""} +
                (each.score.fits       ? ""
                        : each.present ? ", does not fit"
                                       : "does not fit")});
    }
    out += keys.to_string(2);
    if (!candidates[present].score.together.empty()) {
        out += "\nTransactions possible, of 100\n" + detail::together_rows(*this, 8).to_string(2);
    }
    key_candidate const& best = candidates.front();
    if (!best.present) {
        out += "\nBest candidate: " + best.reason + "\n" + best.declaration + "\n  gains  " + best.gains +
            "\n  loses  " + best.loses + '\n';
        if (!best.finer.empty()) {
            out += "  finer  append " + best.finer + " to the partition key: " + best.finer_effect + '\n';
        }
        out += "  copy   " + detail::figure(best.copy_requests) + " requests and at least " +
            detail::seconds_text(best.copy_seconds) + " (entitable::copy)\n";
    }
    return out;
}

ENTITABLE_END_NAMESPACE
