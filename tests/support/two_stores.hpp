// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The same random valid requests to two stores, and the answers of each: codes, indices, rows.

#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/testing/rows.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace entitable_test {
using namespace entitable;

/// The requests of a sequence, drawn from a seed.
class draws {
public:
    explicit draws(std::uint64_t seed) : random_(seed) {}

    std::size_t below(std::size_t limit) { return random_() % limit; }
    bool once_in(std::size_t count) { return below(count) == 0; }
    template <std::size_t N>
    std::string one_of(char const* const (&choices)[N]) {
        return choices[below(N)];
    }
    std::string partition() { return one_of({"", "a", "a", "O'Hara", "\xEF\xBD\x9E", "\xF0\x9F\x98\x80 %25"}); }
    std::string key() {
        return one_of({"", "1", "10", "2", "a'b", "''", "%", "%2F", "+", "a b", "~@,;=&", "(x)", "\xC3\xA9",
            "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBD\x9E", "\xF0\x9F\x98\x80", "a',RowKey='b"});
    }
    std::string name() { return one_of({"A", "a", "B", "Name", "\xC3\xA4", "_1"}); }
    value some_value() {
        static double const doubles[] = {0.0, 1.5, -2.25, 3.0, 1e300, 5e-324, 123456789012345680.0, std::nan(""),
            std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
        static std::int64_t const times[] = {
            0, 1, date_time::unix_epoch, 131'974'500'001'234'567, date_time::max_ticks};
        switch (below(9)) {
            case 0: return value_view{once_in(4) ? INT32_MIN : static_cast<std::int32_t>(below(4)) - 1};
            case 1: return value_view{once_in(4) ? INT64_MAX : static_cast<std::int64_t>(below(4)) - 1};
            case 2: return value_view{doubles[below(10)]};
            case 3: return value_view{once_in(2)};
            case 4: return value_view{date_time{times[below(5)]}};
            case 5: return value_view{edm_type::binary, std::string_view{"\xFE\0\x01", below(4)}};
            case 6:
                return value_view{
                    edm_type::guid, std::string_view{"0123456789abcdef\xFF\xFE", 18}.substr(below(3), 16)};
            default: {
                std::string const text = one_of({"", "a", "B", "12", "it's", "\"\\\n\t\x01", "\xEF\xBD\x9E",
                    "\xF0\x9F\x98\x80", "2020-01-01T00:00:00Z"});
                return value_view{std::string_view{text}};
            }
        }
    }
    row entity(std::string const& in, std::string const& at) {
        row_builder builder{in, at};
        std::set<std::string> used;
        for (std::size_t count = below(5); count > 0; --count) {
            if (std::string const called = name(); used.insert(called).second) {
                value const held = some_value();
                builder.add(called, held.type(), once_in(6) ? std::nullopt : std::optional{held.view()});
            }
        }
        return builder.build();
    }
    filter condition() {
        filter made;
        std::size_t depth = 0;
        for (std::size_t count = below(4); count > 0; --count) {
            std::string const called = once_in(6) ? "RowKey" : name();
            value held = some_value();
            if (called == "RowKey") {
                std::string const text = key();
                held = value{value_view{std::string_view{text}}};
            }
            made.nodes.push_back({static_cast<filter_operator>(below(6)), called, held});
            ++depth;
            if (once_in(4)) { made.nodes.push_back({filter_operator::negation, {}, {}}); }
        }
        for (; depth > 1; --depth) {
            made.nodes.push_back({once_in(2) ? filter_operator::all_of : filter_operator::any_of, {}, {}});
        }
        return made;
    }
    key_interval interval(std::string const& from, std::string const& to) {
        return {{static_cast<key_bound::kind>(below(3)), from}, {static_cast<key_bound::kind>(below(3)), to}};
    }
    query_entities query(std::string table) {
        query_entities made;
        made.table = std::move(table);
        made.range.partition = once_in(3) ? interval(partition(), partition()) : key_interval::only(partition());
        if (once_in(2)) { made.range.row = interval(key(), key()); }
        made.filter = once_in(2) ? condition() : filter{};
        made.page_size = static_cast<std::uint32_t>(once_in(3) ? 1000 : 1 + below(4));
        for (std::size_t count = once_in(3) ? below(3) : 0; count > 0; --count) { made.select.push_back(name()); }
        return made;
    }

private:
    std::mt19937_64 random_;
};

/// One of the two stores, with the ETags that it returned.
struct side {
    any_store store;
    std::map<std::string, etag> versions; ///< versions of existing entities, by table and keys
    std::vector<etag> old;                ///< versions that no longer exist

    template <table_request Request>
    result<response_of<Request>> send(Request const& request) {
        call context;
        return store.execute(request, context);
    }
};

inline std::string place_of(std::string const& table, row_view keys) {
    return table + "/" + std::string{keys.partition_key} + "/" + std::string{keys.row_key};
}

/// The version in a condition; drawn once, and replaced by the ETag of each store.
enum class version : unsigned char { any, latest, former };

inline mutation with_version(mutation change, version which, std::string const& table, side const& on) {
    auto const latest = on.versions.find(place_of(table, change.entity));
    if (which == version::latest && latest != on.versions.end()) {
        change.condition = latest->second;
    } else if (which == version::former && !on.old.empty()) {
        change.condition = on.old.front();
    }
    return change;
}

inline void remember(side& on, std::string const& table, mutation const& change, etag const& given) {
    std::string const place = place_of(table, change.entity);
    if (auto const was = on.versions.find(place); was != on.versions.end()) {
        on.old.assign(1, was->second);
        on.versions.erase(was);
    }
    if (change.kind != mutation_kind::remove) { on.versions.emplace(place, given); }
}

inline std::string shown(row_view found) {
    std::map<std::string, std::string> properties;
    property_cursor cursor{found.payload};
    for (property_view property; cursor.next(property);) {
        if (property.present) {
            properties[std::string{property.name}] =
                std::string{to_string(property.type)} + value{property.value}.to_string();
        }
    }
    std::string text = "(" + std::string{found.partition_key} + "," + std::string{found.row_key} + ")";
    for (auto const& [name, held] : properties) { text += " " + name + "=" + held; }
    return text + "\n";
}

template <class T>
std::string said(result<T> const& outcome) {
    if (outcome) { return "success"; }
    auto const index = outcome.error().operation_index;
    return std::string{to_string(outcome.error().code)} + (index ? " at " + std::to_string(*index) : "");
}

/// All rows of a query except the library's own, which a move leaves behind.
inline std::string rows_of(side& on, query_entities request) {
    std::string text;
    for (int pages = 0; pages < 1000; ++pages) {
        auto const page = on.send(request);
        if (!page) { return text + said(page); }
        for (std::size_t index = 0; index < page->rows.size(); ++index) {
            text += system_row::is_one(page->rows[index].row_key) ? std::string{} : shown(page->rows[index]);
        }
        if (!page->continuation) { return text; }
        request.continuation = page->continuation;
    }
    return text + "no end";
}

/// One step: its name, and the answer of each store.
struct step {
    std::string what;
    std::string in_memory;
    std::string other;
};

inline step one_step(draws& random, side& memory, side& other) {
    std::string const table = random.once_in(30) ? "Missing" : random.once_in(3) ? "Other" : "Orders";
    switch (random.below(10)) {
        case 0: {
            if (!random.once_in(20)) { break; }
            bool const create = random.once_in(2);
            auto const both = [&](side& on) {
                if (create) { return said(on.send(create_table{"Extra"})); }
                return said(on.send(delete_table{"Extra"}));
            };
            return {create ? "create_table" : "delete_table", both(memory), both(other)};
        }
        case 1:
        case 2: {
            get_entity const request{table, random.partition(), random.key(), {}};
            auto const read = [&](side& on) {
                auto const found = on.send(request);
                return found ? shown(found->entity) : said(found);
            };
            return {"get_entity", read(memory), read(other)};
        }
        case 3:
        case 4: {
            auto const request = random.query(table);
            return {"query " + request.range.to_string() + " where " + request.filter.to_string(),
                rows_of(memory, request), rows_of(other, request)};
        }
        case 5: {
            std::vector<mutation> changes;
            std::vector<version> versions;
            std::set<std::string> used;
            std::string const in = random.partition();
            for (std::size_t count = 1 + random.below(6); count > 0; --count) {
                std::string const at = random.key();
                bool const found = at.find(',') == std::string::npos; // see the list of differences
                if (found && used.insert(at).second) {
                    changes.push_back({static_cast<mutation_kind>(random.below(6)), random.entity(in, at), any_etag});
                    versions.push_back(static_cast<version>(random.below(3)));
                }
            }
            if (changes.empty()) { break; }
            auto const write = [&](side& on) {
                transact request{table, {}};
                for (std::size_t index = 0; index < changes.size(); ++index) {
                    request.changes.push_back(with_version(changes[index], versions[index], table, on));
                }
                auto const outcome = on.send(request);
                for (std::size_t index = 0; outcome && index < changes.size(); ++index) {
                    remember(on, table, changes[index], outcome->results[index].etag);
                }
                return said(outcome);
            };
            std::string what = "transact";
            for (std::size_t index = 0; index < changes.size(); ++index) {
                what += " " + std::string{to_string(changes[index].kind)} + " " +
                    std::string{changes[index].entity.row_key()} + " version " +
                    std::to_string(static_cast<int>(versions[index])) + ",";
            }
            return {what, write(memory), write(other)};
        }
        default: break;
    }
    mutation const change{
        static_cast<mutation_kind>(random.below(6)), random.entity(random.partition(), random.key()), any_etag};
    auto const which = static_cast<version>(random.below(3));
    auto const write = [&](side& on) {
        auto const outcome = on.send(write_entity{table, with_version(change, which, table, on)});
        if (outcome) { remember(on, table, change, outcome->etag); }
        return said(outcome);
    };
    return {std::string{to_string(change.kind)}, write(memory), write(other)};
}

} // namespace entitable_test
