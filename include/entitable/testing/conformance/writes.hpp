// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Behaviours of single writes: the six forms, their conditions, their results.

#include <entitable/testing/conformance/trial.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

inline void insert_needs_a_free_key(trial& t) {
    std::string const table = t.new_table();
    row const first = make_row("p", "r", {{"A", 1}});
    t.yes(t.write(table, mutation::insert(first)), "insert");
    auto const before = t.now(table);
    t.no(t.write(table, mutation::insert(make_row("p", "r", {{"A", 2}, {"B", 3}}))), error_code::entity_already_exists,
        "insert a second time");
    t.unchanged(before, table, "after a refused insert");
}

inline void replace_removes_what_it_does_not_name(trial& t) {
    std::string const table = t.new_table();
    t.no(t.write(table, mutation::replace(make_row("p", "r", {{"A", 1}}), any_etag)), error_code::resource_not_found,
        "replace a missing entity");
    t.no(t.get(table, "p", "r"), error_code::resource_not_found, "a replace inserted an entity");
    t.put(table, make_row("p", "r", {{"A", 1}, {"B", "b"}}));
    row const fresh = make_row("p", "r", {{"B", 2.5}, {"C", true}});
    t.yes(t.write(table, mutation::replace(fresh, any_etag)), "replace");
    t.holds(table, fresh, "replaced as a whole");
    row const over = make_row("p", "r", {{"D", 1}});
    t.yes(t.write(table, mutation::insert_or_replace(over)), "insert_or_replace over it");
    t.holds(table, over, "replaced as a whole by insert_or_replace");
    row const added = make_row("p", "new", {{"D", 1}});
    t.yes(t.write(table, mutation::insert_or_replace(added)), "insert_or_replace of a new key");
    t.holds(table, added, "inserted by insert_or_replace");
}

inline void merge_keeps_what_it_does_not_name(trial& t) {
    std::string const table = t.new_table();
    t.no(t.write(table, mutation::merge(make_row("p", "r", {{"A", 1}}), any_etag)), error_code::resource_not_found,
        "merge into a missing entity");
    t.no(t.get(table, "p", "r"), error_code::resource_not_found, "a merge inserted an entity");
    for (bool const upsert : {false, true}) {
        std::string const key = upsert ? "upsert" : "merge";
        t.put(table, make_row("p", key, {{"A", 1}, {"B", "b"}, {"a", 2}}));
        row_builder change{"p", key};
        change.add("B", value_view{std::string_view{"changed"}});
        change.add("A", edm_type::int32, std::nullopt);  // an absent value does not remove the property
        change.add("N", edm_type::string, std::nullopt); // an absent value does not add a property either
        change.add("C", value_view{true});
        t.yes(t.write(table,
                  upsert ? mutation::insert_or_merge(change.build()) : mutation::merge(change.build(), any_etag)),
            key);
        t.holds(table, make_row("p", key, {{"A", 1}, {"B", "changed"}, {"a", 2}, {"C", true}}), "after " + key);
    }
    row const added = make_row("p", "new", {{"A", 1}});
    t.yes(t.write(table, mutation::insert_or_merge(added)), "insert_or_merge of a new key");
    t.holds(table, added, "inserted by insert_or_merge");
}

inline void names_differ_by_case(trial& t) {
    std::string const table = t.new_table();
    row const entity = make_row("p", "r", {{"Birthday", 1}, {"birthday", "x"}, {"BIRTHDAY", true}});
    t.put(table, entity);
    t.holds(table, entity, "names that differ only in letter case");
}

inline void removal(trial& t) {
    std::string const table = t.new_table();
    t.no(t.write(table, mutation::remove(make_row("p", "r"), any_etag)), error_code::resource_not_found,
        "remove a missing entity");
    t.put(table, make_row("p", "r"));
    t.put(table, make_row("p", "other"));
    auto removed = t.write(table, mutation::remove(make_row("p", "r"), any_etag));
    t.yes(removed, "remove");
    t.expect(!removed || removed->etag.empty(), "a removal returned an ETag");
    t.no(t.get(table, "p", "r"), error_code::resource_not_found, "read a removed entity");
    t.no(t.write(table, mutation::remove(make_row("p", "r"), any_etag)), error_code::resource_not_found,
        "remove a second time");
    t.yes(t.get(table, "p", "other"), "its neighbour");
    // The last row of a partition is removed without a trace, and its key is free again.
    row const alone = make_row("alone", "r", {{"A", 1}});
    t.put(table, alone);
    t.yes(t.write(table, mutation::remove(alone, any_etag)), "remove the last row of a partition");
    query_entities query;
    query.table = table;
    t.same(t.keys(query), {"p/other"}, "the whole table after the last row of a partition was removed");
    t.yes(t.write(table, mutation::insert(alone)), "insert it again");
    t.holds(table, alone, "inserted again");
}

inline void conditions(trial& t) {
    std::string const table = t.new_table();
    for (auto const kind : {mutation_kind::replace, mutation_kind::merge, mutation_kind::remove}) {
        std::string const text{to_string(kind)};
        etag const stale = t.put(table, make_row("p", text, {{"A", 1}}));
        etag const latest = t.put(table, make_row("p", text, {{"A", 2}}));
        auto const before = t.now(table);
        auto const change = [&](etag_condition condition) {
            return t.write(table, mutation{kind, make_row("p", text, {{"A", 3}}), std::move(condition)});
        };
        t.no(change(stale), error_code::update_condition_not_satisfied, text + " with a stale ETag");
        t.no(change(etag{"W/\"0x5B168C7B6E589D2\""}), error_code::update_condition_not_satisfied,
            text + " with another entity's ETag");
        for (std::string const& bad : {std::string{}, std::string{"junk"}, std::string{"*"}, std::string{"W/"},
                 std::string{"W/\"datetime'2020"}, std::string{"W/\"a\r\nb\""}, std::string{"\"a\nb\""},
                 std::string("\"a\0b\"", 5), '"' + times(10 * 1024, "e") + '"'}) {
            t.no(change(etag{bad}), error_code::invalid_input,
                text + " with the ETag " + text::printable(text::shortened(bad)));
        }
        t.unchanged(before, table, "after refused conditions of " + text);
        t.yes(change(latest), text + " with the latest ETag");
        auto const again = change(latest);
        if (kind == mutation_kind::remove) {
            t.no(again, error_code::resource_not_found, text + " a second time");
        } else {
            t.no(again, error_code::update_condition_not_satisfied, text + " a second time");
            t.yes(change(any_etag), text + " with any version");
            t.holds(table, make_row("p", text, {{"A", 3}}), "after " + text);
        }
    }
}

inline void versions_increase(trial& t) {
    std::string const table = t.new_table();
    date_time last{};
    std::vector<std::string> seen;
    auto const wrote = [&](result<written> const& outcome, std::string const& text) {
        auto const read = t.get(table, "p", "r");
        if (!t.yes(outcome, text) || !t.yes(read, text)) { return; }
        t.same(
            outcome->etag.to_string(), read->etag.to_string(), text + ": the ETag of the write and that of the entity");
        t.expect(read->entity.view().timestamp() > last, text + ": the Timestamp has not increased");
        t.expect(
            std::find(seen.begin(), seen.end(), read->etag.to_string()) == seen.end(), text + ": an ETag was repeated");
        t.same(
            read->entity.view().etag().to_string(), read->etag.to_string(), text + ": the ETags of row and response");
        last = read->entity.view().timestamp();
        seen.push_back(read->etag.to_string());
    };
    row const entity = make_row("p", "r", {{"A", 1}});
    for (int round = 0; round < 3; ++round) {
        wrote(t.write(table, mutation::insert(entity)), "insert");
        wrote(t.write(table, mutation::merge(make_row("p", "r"), any_etag)), "a merge without properties");
        wrote(t.write(table, mutation::merge(entity, any_etag)), "a merge of the same properties");
        wrote(t.write(table, mutation::replace(entity, any_etag)), "a replace with the same properties");
        wrote(t.write(table, mutation::insert_or_merge(entity)), "insert_or_merge");
        wrote(t.write(table, mutation::insert_or_replace(entity)), "insert_or_replace");
        // The caller's Timestamp is ignored.
        std::string payload{entity.payload()};
        set_timestamp(payload, date_time{date_time::max_ticks});
        wrote(t.write(table, mutation::replace(row{"p", "r", payload}, any_etag)), "a replace with a Timestamp");
        auto batch = t.send(transact{table, {mutation::merge(entity, any_etag)}});
        if (t.yes(batch, "a batch") && t.expect(batch->results.size() == 1, "a batch with one change has one result")) {
            wrote(batch->results.front(), "a batch");
        }
        t.yes(t.write(table, mutation::remove(entity, any_etag)), "remove");
    }
}

inline void merges_are_bounded(trial& t) {
    std::string const table = t.new_table();
    row_builder full{"p", "r"};
    for (std::size_t index = 0; index < t.limits().max_properties; ++index) {
        full.add(text::joined({"P", std::to_string(index)}), value_view{1});
    }
    t.put(table, full.build());
    auto const before = t.now(table);
    row const one_more = make_row("p", "r", {{"OneMore", 1}});
    t.no(t.write(table, mutation::merge(one_more, any_etag)), error_code::too_many_properties, "merge");
    t.no(t.write(table, mutation::insert_or_merge(one_more)), error_code::too_many_properties, "insert_or_merge");
    t.unchanged(before, table, "after merges that would exceed the limit");
    t.yes(t.write(table, mutation::merge(make_row("p", "r", {{"P0", 2}}), any_etag)), "merge of a known property");
}

inline constexpr behaviour behaviours_of_writes[] = {
    {"insert needs a free key", insert_needs_a_free_key,
        "EntityAlreadyExists, and the stored entity is unchanged (Insert Entity)"},
    {"replace removes properties that it does not name", replace_removes_what_it_does_not_name,
        "all properties are replaced; only insert_or_replace inserts (Update Entity, Insert Or Replace Entity)"},
    {"merge retains properties that it does not name", merge_keeps_what_it_does_not_name,
        "properties without a value are ignored; only insert_or_merge inserts (Merge Entity, Insert Or Merge "
        "Entity)"},
    {"property names are case-sensitive", names_differ_by_case,
        "names that differ in letter case are different properties (Understanding the Table service data model)"},
    {"removal", removal, "ResourceNotFound if the entity is missing; the key is free afterwards (Delete Entity)"},
    {"conditions of replace, merge and remove", conditions,
        "UpdateConditionNotSatisfied unless the ETag is the latest; InvalidInput if it is malformed (If-Match)"},
    {"every write makes a new version", versions_increase,
        "each write changes ETag and Timestamp, even with the same content and after a removal (data model)"},
    {"a merge cannot exceed the limits", merges_are_bounded,
        "the result of a merge must be within the limits of entities (Merge Entity)"},
};

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
