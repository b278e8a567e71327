// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Behaviours of entity group transactions.

#include <entitable/testing/conformance/trial.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

/// Returns `count` inserts into one partition.
[[nodiscard]] inline std::vector<mutation> inserts(std::size_t count, std::string_view partition_key = "p") {
    std::vector<mutation> changes;
    for (std::size_t index = 0; index < count; ++index) {
        changes.push_back(
            mutation::insert(make_row(partition_key, padded(index), {{"N", static_cast<std::int32_t>(index)}})));
    }
    return changes;
}

/// Returns inserts that are each within the limit of an entity, and together just above `size`.
[[nodiscard]] inline std::vector<mutation> large_inserts(trial const& t, std::size_t size) {
    std::vector<mutation> changes;
    std::string const content = times(std::min<std::size_t>(t.limits().max_string_units, 30'000), "x");
    for (std::size_t made = 0; made <= size && changes.size() < t.limits().max_operations;
        made += 10 * 2 * content.size()) {
        row_builder entity{"p", padded(changes.size())};
        for (int property = 0; property < 10; ++property) {
            entity.add(text::joined({"P", std::to_string(property)}), value_view{std::string_view{content}});
        }
        changes.push_back(mutation::insert(entity.build()));
    }
    return changes;
}

/// Checks the refusal of a transaction, and its operation index if the error contains one. Returns whether the error has an index.
inline bool refused_at(trial& t, std::string const& table, std::vector<mutation> changes, error_code code,
    std::optional<std::size_t> index, std::string const& text) {
    auto const before = t.now(table);
    auto outcome = t.send(transact{table, std::move(changes)});
    bool const has_index = !outcome && outcome.error().operation_index.has_value();
    if (t.no(outcome, code, text) && index && has_index) {
        t.expect(outcome.error().operation_index == index,
            text + ": the index is " + std::to_string(*outcome.error().operation_index) + " instead of " +
                std::to_string(*index));
    }
    t.unchanged(before, table, text);
    return has_index;
}

inline void a_hundred_at_once(trial& t) {
    std::string const table = t.new_table();
    auto outcome = t.send(transact{table, inserts(t.limits().max_operations)});
    if (!t.yes(outcome, "the largest transaction") ||
        !t.expect(outcome->results.size() == t.limits().max_operations, "a result for each operation")) {
        return;
    }
    query_entities query;
    query.table = table;
    auto rows = t.rows(query);
    std::sort(
        rows.begin(), rows.end(), [](row const& left, row const& right) { return left.row_key() < right.row_key(); });
    if (!t.expect(rows.size() == outcome->results.size(), "an entity for each operation")) { return; }
    for (std::size_t index = 0; index < rows.size(); ++index) {
        t.same(rows[index].row_key(), padded(index), "the entities of a transaction");
        t.same(rows[index].view().etag().to_string(), outcome->results[index].etag.to_string(),
            "the ETag of operation " + padded(index));
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
        t.expect(outcome->results.size() == 6, "a result for each operation")) {
        t.expect(outcome->results[3].etag.empty(), "a removal returned an ETag");
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
        bool is_of_the_store{true}; ///< otherwise the transaction is refused before it is sent, with an index
    };
    offence const offences[] = {
        {mutation::insert(make_row("p", "taken")), error_code::entity_already_exists, "insert of a taken key"},
        {mutation::replace(make_row("p", "none"), any_etag), error_code::resource_not_found,
            "replace of a missing entity"},
        {mutation::merge(make_row("p", "none"), any_etag), error_code::resource_not_found,
            "merge into a missing entity"},
        {mutation::remove(make_row("p", "none"), any_etag), error_code::resource_not_found,
            "removal of a missing entity"},
        {mutation::merge(make_row("p", "taken", {{"A", 3}}), stale), error_code::update_condition_not_satisfied,
            "merge with a stale ETag"},
        {mutation::remove(make_row("p", "taken"), stale), error_code::update_condition_not_satisfied,
            "removal with a stale ETag"},
        {mutation::replace(make_row("p", "taken"), etag{"junk"}), error_code::invalid_input,
            "replace with a malformed ETag", false},
        {mutation::insert(make_row("p", "x", {{"1st", 1}})), error_code::property_name_invalid, "a bad name", false},
        {mutation::insert(make_row("p", "x", {{"S", times(t.limits().max_string_units + 1, "s")}})),
            error_code::property_value_too_large, "a value too large", false},
    };
    // Not every service reports the index of the refused operation; a service that reports it for one reason must report it for every reason.
    std::string_view with_index;
    std::string_view without_index;
    for (offence const& each : offences) {
        for (std::size_t const place : {std::size_t{0}, std::size_t{4}, std::size_t{9}}) {
            auto changes = inserts(9);
            changes.insert(changes.begin() + static_cast<std::ptrdiff_t>(place), each.change);
            bool const has_index = refused_at(t, table, std::move(changes), each.code, place,
                std::string{each.text} + " at " + std::to_string(place));
            if (each.is_of_the_store) { (has_index ? with_index : without_index) = each.text; }
        }
    }
    t.expect(with_index.empty() || without_index.empty(),
        text::joined({"some refusals lack operation_index: ", without_index, "; others have it: ", with_index}));
    t.yes(t.send(transact{table, inserts(9)}), "the same without the invalid operation");
    auto changes = inserts(1);
    changes.insert(changes.begin(), mutation::remove(make_row("p", padded(5)), any_etag));
    refused_at(t, table, std::move(changes), error_code::entity_already_exists, 1, "a removal before a refused insert");
}

inline void what_is_no_transaction(trial& t) {
    std::string const table = t.new_table();
    t.put(table, make_row("p", "there"));
    refused_at(t, table, {}, error_code::invalid_input, std::nullopt, "an empty transaction");
    refused_at(t, table, inserts(t.limits().max_operations + 1), error_code::invalid_input, std::nullopt,
        "one operation too many");
    auto two = inserts(3);
    two.push_back(mutation::insert(make_row("q", "r")));
    refused_at(
        t, table, std::move(two), error_code::commands_in_batch_act_on_different_partitions, 3, "two partitions");
    auto twice = inserts(3);
    twice.push_back(mutation::merge(make_row("p", padded(1)), any_etag));
    refused_at(t, table, std::move(twice), error_code::invalid_duplicate_row, 3,
        "an entity twice, the second time with its version from the same transaction");
    refused_at(t, table, {mutation::remove(make_row("p", "there"), any_etag), mutation::insert(make_row("p", "there"))},
        error_code::invalid_duplicate_row, 1, "removed and inserted");
    refused_at(t, table, large_inserts(t, t.limits().max_transaction_size), error_code::request_body_too_large,
        std::nullopt, "too large");
}

inline void large_transactions(trial& t) {
    std::string const table = t.new_table();
    auto const changes = large_inserts(t, t.limits().max_transaction_size / 2);
    t.yes(t.send(transact{table, changes}), "half of the largest size");
    t.holds(table, changes.back().entity, "the last entity of a large transaction");
}

inline void transactions_are_values(trial& t) {
    std::string const table = t.new_table();
    transact const batch{table, {mutation::insert_or_merge(make_row("p", "r", {{"A", 1}}))}};
    t.yes(t.send(batch), "the first use");
    t.yes(t.send(batch), "the second use");
}

inline constexpr behaviour behaviours_of_transactions[] = {
    {"the maximum number of operations, and a result for each", a_hundred_at_once,
        "100 operations, and their ETags in the order of the operations (Performing entity group transactions)"},
    {"all forms of a write in one transaction", all_forms_together,
        "each form works as it does alone (Performing entity group transactions)"},
    {"all or nothing, and the index of the failed operation", all_or_nothing,
        "if one operation fails, all fail, with the code and the index of that operation (Performing entity group "
        "transactions)"},
    {"invalid transactions", what_is_no_transaction,
        "1 to 100 operations on different entities of one partition, 4 MiB in total (Performing entity group "
        "transactions)"},
    {"a large transaction", large_transactions, "sizes within the limits of the profile are accepted (profile.hpp)"},
    {"a transaction is sent twice", transactions_are_values,
        "a request is a value: it can be sent again (requests.hpp)"},
};

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
