// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Behaviours at the limits given by a transport's profile.

#include <entitable/testing/conformance/trial.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

/// Checks that every write of a whole entity is refused, alone and in a transaction, and changes nothing.
inline void refused_entity(
    trial& t, std::string const& table, row const& entity, error_code code, std::string const& text) {
    auto const before = t.now(table);
    for (auto const kind : {mutation_kind::insert, mutation_kind::replace, mutation_kind::merge,
             mutation_kind::insert_or_replace, mutation_kind::insert_or_merge}) {
        mutation const change{kind, entity, any_etag};
        std::string const form{to_string(kind)};
        auto const outcome = t.write(table, change);
        if (t.no(outcome, code, text + ", " + form)) {
            t.expect(!outcome.error().message.empty(), text + ": the error has no message");
        }
        t.no(t.send(transact{table, {change}}), code, text + ", transaction with " + form);
    }
    t.unchanged(before, table, text);
}

inline void number_of_properties(trial& t) {
    std::string const table = t.new_table();
    t.put(table, make_row("p", "r"));
    row_builder entity{"p", "r"};
    for (std::size_t index = 0; index < t.limits().max_properties; ++index) {
        entity.add(text::joined({"P", std::to_string(index)}), value_view{true});
    }
    t.put(table, entity.build());
    t.holds(table, entity.build(), "the maximum number of properties");
    entity.add("OneMore", value_view{true});
    refused_entity(t, table, entity.build(), error_code::too_many_properties, "one property too many");
}

inline void names_of_properties(trial& t) {
    std::string const table = t.new_table();
    t.put(table, make_row("p", "r"));
    std::string const longest = times(t.limits().max_name_units, "n");
    row const good = make_row("p", "r", {{longest, 1}, {"_", 2}, {"a1", 3}, {"\xC3\xA4", 4}});
    t.put(table, good);
    t.holds(table, good, "good names");
    refused_entity(
        t, table, make_row("p", "r", {{longest + "n", 1}}), error_code::property_name_too_long, "a long name");
    for (std::string const bad : {"", "1a", "123", "a-b", "a b", "a.b", "odata.etag", "a@b", "a'b", "a\r\nb",
             "PartitionKey", "RowKey", "Timestamp", "\xFF"}) {
        refused_entity(t, table, make_row("p", "r", {{bad, 1}}), error_code::property_name_invalid,
            "the name \"" + text::printable(bad) + "\"");
    }
    for (std::string const reserved : {"ID", "id", "rid", "ResourceId", "Etag"}) {
        row const entity = make_row("p", "r", {{reserved, 1}});
        if (t.limits().kind == service::cosmos) {
            refused_entity(t, table, entity, error_code::property_name_invalid, "the reserved name " + reserved);
        } else {
            t.put(table, entity);
        }
    }
    t.put(table, make_row("p", "r", {{"etag", 1}}));
    refused_entity(t, table, make_row("p", "r", {{"A", 1}, {"B", 1}, {"A", "x"}}),
        error_code::duplicate_properties_specified, "a duplicate name");
}

inline void sizes_of_values(trial& t) {
    std::string const table = t.new_table();
    t.put(table, make_row("p", "r"));
    std::size_t const units = t.limits().max_string_units;
    if (units * 2 + 1000 < t.limits().max_entity_size) {
        for (row const& good :
            {make_row("p", "r", {{"S", times(units, "s")}}),
                make_row("p", "r", {{"S", times(units / 2, "\xF0\x9F\x98\x80")}}),
                make_row("p", "r",
                    {{"B", value_view{edm_type::binary, std::string_view{times(t.limits().max_binary_size, "b")}}}})}) {
            t.put(table, good);
            t.holds(table, good, "the largest value");
        }
        refused_entity(t, table, make_row("p", "r", {{"S", times(units + 1, "s")}}),
            error_code::property_value_too_large, "one UTF-16 unit too many");
        refused_entity(t, table, make_row("p", "r", {{"S", times(units / 2, "\xF0\x9F\x98\x80") + "s"}}),
            error_code::property_value_too_large, "one UTF-16 unit too many, with surrogate pairs");
        std::string const large = times(t.limits().max_binary_size + 1, "b");
        refused_entity(t, table, make_row("p", "r", {{"B", value_view{edm_type::binary, std::string_view{large}}}}),
            error_code::property_value_too_large, "one byte too many");
    }
    refused_entity(
        t, table, make_row("p", "r", {{"S", "\xC0\xAF"}}), error_code::invalid_input, "text that is not UTF-8");
    for (std::int64_t const ticks : {std::int64_t{-1}, date_time::max_ticks + 1, INT64_MIN, INT64_MAX}) {
        refused_entity(t, table, make_row("p", "r", {{"T", date_time{ticks}}}), error_code::out_of_range_input,
            "a time of " + std::to_string(ticks) + " ticks");
    }
}

inline void size_of_an_entity(trial& t) {
    std::string const table = t.new_table();
    t.put(table, make_row("p", "r"));
    // Binary values that nearly fill the entity, then a value that fills it exactly.
    row_builder entity{"p", "r"};
    std::size_t const piece = t.limits().max_binary_size < 50'000 ? t.limits().max_binary_size : 50'000;
    std::string const bytes = times(piece, "b");
    std::size_t index = 0;
    while (service_size(entity.build()) + piece + 100 < t.limits().max_entity_size) {
        entity.add(text::joined({"P", padded(index++)}), value_view{edm_type::binary, std::string_view{bytes}});
    }
    std::size_t const left = t.limits().max_entity_size - service_size(entity.build()) - (8 + 2 * 4 + 4);
    row_builder larger = entity;
    std::string const rest = times(left + 1, "b");
    entity.add("Rest", value_view{edm_type::binary, std::string_view{rest}.substr(1)});
    larger.add("Rest", value_view{edm_type::binary, std::string_view{rest}});
    t.put(table, entity.build());
    t.holds(table, entity.build(), "the largest entity");
    refused_entity(t, table, larger.build(), error_code::entity_too_large, "an entity one byte too large");
}

inline void checked_before_its_table(trial& t) {
    std::string const table = t.prefix() + "never";
    row const bad_name = make_row("p", "r", {{"1st", 1}});
    t.no(t.get(table, "p", "a/b"), error_code::out_of_range_input, error_code::invalid_input, "read a forbidden key");
    t.no(t.write(table, mutation::insert(bad_name)), error_code::property_name_invalid, "insert a bad name");
    t.no(t.write(table, mutation::replace(make_row("p", "r"), etag{"junk"})), error_code::invalid_input,
        "replace with a malformed ETag");
    t.no(t.send(transact{table, {mutation::insert(bad_name)}}), error_code::property_name_invalid, "a transaction");
    t.no(t.send(transact{table, {}}), error_code::invalid_input, "an empty transaction");
    query_entities query;
    query.table = table;
    query.page_size = 0;
    t.no(t.send(query), error_code::invalid_input, "a query with page size 0");
}

inline constexpr behaviour behaviours_of_limits[] = {
    {"the number of properties", number_of_properties,
        "TooManyProperties above the profile's limit of 252 (Understanding the Table service data model)"},
    {"the names of properties", names_of_properties,
        "identifiers of up to 255 units, not reserved, not repeated (Understanding the Table service data model)"},
    {"the sizes of values", sizes_of_values,
        "PropertyValueTooLarge above 64 KiB, OutOfRangeInput for times before 1601 or after 9999 (data model)"},
    {"the size of an entity", size_of_an_entity, "EntityTooLarge beyond 1 MiB by the service's own measure (row.hpp)"},
    {"a request is checked before its table is looked up", checked_before_its_table,
        "a request that violates the profile is refused before any I/O (transport, rule 5)"},
};

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
