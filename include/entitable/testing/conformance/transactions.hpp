// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Behaviours of entity group transactions.

#include <entitable/testing/conformance/trial.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

/// `count` inserts of one partition.
[[nodiscard]] inline std::vector<mutation> inserts(std::size_t count, std::string_view partition_key = "p") {
    std::vector<mutation> changes;
    for (std::size_t index = 0; index < count; ++index) {
        changes.push_back(
            mutation::insert(make_row(partition_key, padded(index), {{"N", static_cast<std::int32_t>(index)}})));
    }
    return changes;
}

/// A refusal of a transaction that tells which operation it was, if it tells that at all.
inline void refused_at(trial& t, std::string const& table, std::vector<mutation> changes, error_code code,
    std::optional<std::size_t> index, std::string const& text) {
    auto const before = t.now(table);
    auto outcome = t.send(transact{table, std::move(changes)});
    if (t.no(outcome, code, text) && index && outcome.error().operation_index) {
        t.check(outcome.error().operation_index == index,
            text + ": the index is " + std::to_string(*outcome.error().operation_index) + " and not " +
                std::to_string(*index));
    }
    t.unchanged(before, table, text);
}

inline void a_hundred_at_once(trial& t) {
    std::string const table = t.new_table();
    auto outcome = t.send(transact{table, inserts(t.limits().max_operations)});
    if (!t.yes(outcome, "the largest transaction") ||
        !t.check(outcome->results.size() == t.limits().max_operations, "a result for each operation")) {
        return;
    }
    for (std::size_t index = 0; index < t.limits().max_operations; ++index) {
        auto const read = t.get(table, "p", padded(index));
        if (t.yes(read, "row " + padded(index))) {
            t.same(read->etag.text(), outcome->results[index].etag.text(), "the ETag of operation " + padded(index));
        }
    }
}

inline void all_forms_together(trial& t) {
    std::string const table = t.new_table();
    etag const replaced = t.put(table, make_row("p", "replace", {{"A", 1}}));
    etag const merged = t.put(table, make_row("p", "merge", {{"A", 1}}));
    etag const removed = t.put(table, make_row("p", "remove", {{"A", 1}}));
    t.put(table, make_row("p", "upsert", {{"A", 1}}));
    t.put(table, make_row("p", "untouched", {{"A", 1}}));
    auto outcome = t.send(transact{table,
        {mutation::insert(make_row("p", "insert", {{"B", 2}})),
            mutation::replace(make_row("p", "replace", {{"B", 2}}), replaced),
            mutation::merge(make_row("p", "merge", {{"B", 2}}), merged),
            mutation::remove(make_row("p", "remove"), removed),
            mutation::insert_or_replace(make_row("p", "upsert", {{"B", 2}})),
            mutation::insert_or_merge(make_row("p", "new", {{"B", 2}}))}});
    if (t.yes(outcome, "six forms in one transaction") &&
        t.check(outcome->results.size() == 6, "a result for each operation")) {
        t.check(outcome->results[3].etag.empty(), "a removal gives an ETag");
    }
    t.holds(table, make_row("p", "insert", {{"B", 2}}), "insert");
    t.holds(table, make_row("p", "replace", {{"B", 2}}), "replace");
    t.holds(table, make_row("p", "merge", {{"A", 1}, {"B", 2}}), "merge");
    t.no(t.get(table, "p", "remove"), error_code::resource_not_found, "remove");
    t.holds(table, make_row("p", "upsert", {{"B", 2}}), "insert_or_replace");
    t.holds(table, make_row("p", "new", {{"B", 2}}), "insert_or_merge");
    t.holds(table, make_row("p", "untouched", {{"A", 1}}), "another row of the partition");
}

inline void all_or_nothing(trial& t) {
    std::string const table = t.new_table();
    etag const stale = t.put(table, make_row("p", "taken", {{"A", 1}}));
    t.put(table, make_row("p", "taken", {{"A", 2}}));
    struct offence {
        mutation change;
        error_code code;
        char const* text;
    };
    offence const offences[] = {
        {mutation::insert(make_row("p", "taken")), error_code::entity_already_exists, "insert of a taken key"},
        {mutation::replace(make_row("p", "none"), any_etag), error_code::resource_not_found, "replace of nothing"},
        {mutation::merge(make_row("p", "none"), any_etag), error_code::resource_not_found, "merge of nothing"},
        {mutation::remove(make_row("p", "none"), any_etag), error_code::resource_not_found, "removal of nothing"},
        {mutation::merge(make_row("p", "taken", {{"A", 3}}), stale), error_code::update_condition_not_satisfied,
            "merge with a stale ETag"},
        {mutation::remove(make_row("p", "taken"), stale), error_code::update_condition_not_satisfied,
            "removal with a stale ETag"},
        {mutation::replace(make_row("p", "taken"), etag{"junk"}), error_code::invalid_input,
            "replace with a malformed ETag"},
        {mutation::insert(make_row("p", "x", {{"1st", 1}})), error_code::property_name_invalid, "a bad name"},
        {mutation::insert(make_row("p", "x", {{"S", times(t.limits().max_string_units + 1, "s")}})),
            error_code::property_value_too_large, "a value too large"},
    };
    for (offence const& each : offences) {
        for (std::size_t const place : {std::size_t{0}, std::size_t{4}, std::size_t{9}}) {
            auto changes = inserts(9);
            changes.insert(changes.begin() + static_cast<std::ptrdiff_t>(place), each.change);
            refused_at(t, table, std::move(changes), each.code, place,
                std::string{each.text} + " at " + std::to_string(place));
        }
    }
    t.yes(t.send(transact{table, inserts(9)}), "the same without the offence");
}

inline void what_is_no_transaction(trial& t) {
    std::string const table = t.new_table();
    t.put(table, make_row("p", "there"));
    refused_at(t, table, {}, error_code::invalid_input, std::nullopt, "an empty transaction");
    refused_at(t, table, inserts(t.limits().max_operations + 1), error_code::invalid_input, std::nullopt,
        "an operation too many");
    auto two = inserts(3);
    two.push_back(mutation::insert(make_row("q", "r")));
    refused_at(
        t, table, std::move(two), error_code::commands_in_batch_act_on_different_partitions, 3, "two partitions");
    auto twice = inserts(3);
    twice.push_back(mutation::merge(make_row("p", padded(1)), any_etag));
    refused_at(t, table, std::move(twice), error_code::invalid_duplicate_row, 3,
        "an entity twice, the second time as it was made in the same transaction");
    refused_at(t, table, {mutation::remove(make_row("p", "there"), any_etag), mutation::insert(make_row("p", "there"))},
        error_code::invalid_duplicate_row, 1, "removed and inserted");
    // Within the limit of each entity, beyond that of the whole.
    std::vector<mutation> large;
    std::string const content = times(t.limits().max_string_units < 30'000 ? t.limits().max_string_units : 30'000, "x");
    for (std::size_t size = 0; size <= t.limits().max_transaction_size && large.size() < t.limits().max_operations;
        size += 10 * 2 * content.size()) {
        row_builder entity{"p", padded(large.size())};
        for (int property = 0; property < 10; ++property) {
            entity.add(text::joined({"P", std::to_string(property)}), value_view{std::string_view{content}});
        }
        large.push_back(mutation::insert(entity.build()));
    }
    refused_at(t, table, std::move(large), error_code::request_body_too_large, std::nullopt, "too large");
}

inline void transactions_are_values(trial& t) {
    std::string const table = t.new_table();
    transact const batch{table, {mutation::insert_or_merge(make_row("p", "r", {{"A", 1}}))}};
    t.yes(t.send(batch), "trap 44: the first use");
    t.yes(t.send(batch), "trap 44: the second use");
}

inline constexpr behaviour behaviours_of_transactions[] = {
    {"as many operations as are allowed, and a result for each", a_hundred_at_once},
    {"all forms of a write in one transaction", all_forms_together},
    {"trap 39: all or nothing, and the index of what failed", all_or_nothing},
    {"traps 45 to 47: what is no transaction", what_is_no_transaction},
    {"trap 44: a transaction is used twice", transactions_are_values},
};

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
