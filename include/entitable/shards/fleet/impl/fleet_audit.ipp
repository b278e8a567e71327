// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/compare.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/detail/shard_visits.hpp>
#include <entitable/shards/fleet/detail/stored_rows.hpp>
#include <entitable/shards/fleet/fleet_audit.hpp>
#include <entitable/shards/map/detail/shard_map_rows.hpp>
#include <entitable/shards/route/detail/shard_tables.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline int compare_keys(row_view left, row_view right) noexcept {
    int const partition = text::compare_utf16(left.partition_key, right.partition_key);
    return partition != 0 ? partition : text::compare_utf16(left.row_key, right.row_key);
}

/// Whether a name has the form of a table of a virtual shard: it ends in four digits, "x" and a number.
inline bool names_shard_table(std::string_view name) noexcept {
    std::size_t const mark = name.rfind('x');
    return mark != std::string_view::npos && mark > 4 && mark + 1 < name.size() &&
        name.find_first_not_of("0123456789", mark + 1) == std::string_view::npos &&
        name.substr(mark - 4, 4).find_first_not_of("0123456789") == std::string_view::npos;
}

/// Lists all tables of a store.
inline result<std::set<std::string>> stored_tables(any_store const& there) {
    std::set<std::string> names;
    page_cursor pages{list_tables{{}, static_cast<std::uint32_t>(there.profile().max_page_size)}};
    while (pages.more()) {
        call context;
        ENTITABLE_TRY(auto const found, pages.take(there.execute(pages.request(), context)));
        names.insert(found.tables.begin(), found.tables.end());
    }
    return names;
}

/// Returns the names of tables in a store that the map lists for moves in progress or abandoned.
inline std::set<std::string> names_of_moves(shard_map_copy const& map, std::string_view store) {
    std::set<std::string> names;
    for (shard_place const& place : map.places) {
        for (shard_table const& table : map.tables) {
            auto const add = [&](std::string_view where, std::int32_t shard, std::int64_t epoch) {
                if (where == store) {
                    names.insert(shard_table_name(table.name, shard, (std::max)(epoch, table.epoch)));
                }
            };
            add(place.row.attempt_store, place.row.shard, place.row.attempt_epoch);
            for (shard_retired const& old : place.retired) { add(old.store, old.shard, old.epoch); }
            if (table.dropping) { add(place.row.store, place.tables_of(), place.row.epoch); }
        }
    }
    return names;
}

/// Tables of a store that have names of virtual shards' tables but are unknown to the map.
struct left_over_tables {
    shard_map_ref map;
    std::vector<std::string> tables;
};
inline result<left_over_tables> left_over_in(fleet const& of, std::string const& store) {
    ENTITABLE_TRY(auto const through, of.store(store));
    // Listed before and after the map is read: tables created in between are not in the first list, tables dropped in between not in
    // the second.
    ENTITABLE_TRY(auto const before, stored_tables(through));
    ENTITABLE_TRY(auto map, of.cloud().state().map.state().fresh({}));
    ENTITABLE_TRY(auto const after, stored_tables(through));
    std::set<std::string> known = names_of_moves(*map, store);
    for (shard_place const& place : map->places) {
        if (place.row.store == store) {
            for (visited_table const& table : visit_of(*map, place).tables) { known.insert(table.stored); }
        }
    }
    left_over_tables found{std::move(map), {}};
    for (std::string const& name : before) {
        if (names_shard_table(name) && known.find(name) == known.end() && after.find(name) != after.end()) {
            found.tables.push_back(name);
        }
    }
    return found;
}

/// The findings of one visit of a shard.
struct shard_schema {
    std::vector<table_difference> missing;
    std::map<std::pair<std::string, std::string>, std::vector<edm_type>>
        types; ///< types found for each table and property
};
/// Collects the types in the first rows of a table.
inline result<void> sample_types(shard_visit const& at, visited_table const& table, any_store const& through,
    std::size_t sample, shard_schema& found) {
    stored_rows rows{through, table.stored, at.keys};
    for (std::size_t row = 0; row < sample; ++row) {
        ENTITABLE_TRY(auto const each, rows.next());
        if (!each) { break; }
        property_cursor cursor{each->payload};
        for (property_view one; cursor.next(one);) {
            auto& types = found.types[{table.name, std::string{one.name}}];
            if (std::find(types.begin(), types.end(), one.type) == types.end()) { types.push_back(one.type); }
        }
    }
    return {};
}

/// Whether a name with the form of a virtual shard's table belongs to this map and has a number that the map has given
/// out. No table will ever have that name again.
inline bool was_given_out(shard_map_copy const& map, std::string_view name) {
    std::size_t const mark = name.rfind('x');
    std::int64_t const epoch = shard_number_in(name.substr(mark));
    auto const shard = static_cast<std::int32_t>(shard_number_in(name.substr(mark - 4, 4)));
    return epoch < map.header.next_epoch &&
        std::any_of(
            map.tables.begin(), map.tables.end(),
            [&](shard_table const& each) {
                return text::ascii_lower(shard_table_name(each.name, shard, epoch)) == text::ascii_lower(name);
            });
}

} // namespace detail

ENTITABLE_DECL result<audit_report> audit(
    any_store const& left, any_store const& right, std::string table, std::size_t most_named) {
    if (!left.profile().ordered || !right.profile().ordered) {
        return failure{error_code::not_supported, "an audit needs stores that return rows in key order"};
    }
    audit_report made;
    detail::stored_rows here{left, table};
    detail::stored_rows there{right, table};
    made.table = std::move(table);
    auto const next = [](detail::stored_rows& of) -> result<std::optional<row_view>> {
        auto found = of.next();
        if (!found && found.error().code == error_code::table_not_found) { return std::optional<row_view>{}; }
        return found;
    };
    auto const note = [&](audit_difference::kind how, row_view which) {
        if (made.differences.size() < most_named) {
            made.differences.push_back({how, std::string{which.partition_key}, std::string{which.row_key}});
        }
    };
    ENTITABLE_TRY(auto one, next(here));
    ENTITABLE_TRY(auto other, next(there));
    while (one || other) {
        int const order = !other ? -1 : !one ? 1 : detail::compare_keys(*one, *other);
        if (order < 0) {
            ++made.only_left;
            note(audit_difference::kind::only_left, *one);
        } else if (order > 0) {
            ++made.only_right;
            note(audit_difference::kind::only_right, *other);
        } else if (same_properties(*one, *other)) {
            ++made.equal;
        } else {
            ++made.different;
            note(audit_difference::kind::different, *one);
        }
        if (order <= 0) { ENTITABLE_TRY(one, next(here)); }
        if (order >= 0) { ENTITABLE_TRY(other, next(there)); }
    }
    return made;
}

ENTITABLE_DECL result<std::vector<audit_report>> audit(fleet const& left, fleet const& right, std::size_t most_named) {
    any_store const here{left.cloud()};
    any_store const there{right.cloud()};
    ENTITABLE_TRY(auto names, detail::stored_tables(here));
    ENTITABLE_TRY(auto const others, detail::stored_tables(there));
    names.insert(others.begin(), others.end());
    std::vector<audit_report> all;
    for (std::string const& name : names) {
        ENTITABLE_TRY(auto made, audit(here, there, name, most_named));
        all.push_back(std::move(made));
    }
    return all;
}

ENTITABLE_DECL result<std::vector<table_difference>> schema_drift(fleet const& of, std::size_t sample) {
    std::map<std::int32_t, detail::shard_schema> found; // results of the last visit of each shard
    std::mutex lock;
    auto const look = [&](detail::shard_visit const& at, any_store const& through) -> result<void> {
        ENTITABLE_TRY(auto const there, detail::stored_tables(through));
        detail::shard_schema here;
        for (detail::visited_table const& table : at.tables) {
            if (there.find(table.stored) != there.end()) {
                ENTITABLE_CHECK(detail::sample_types(at, table, through, sample, here));
            } else {
                here.missing.push_back({table_difference::kind::missing, at.store, table.name, table.stored});
            }
        }
        std::lock_guard<std::mutex> const guard{lock};
        found[at.shard] = std::move(here);
        return {};
    };
    auto const every = [](detail::shard_visit const&) { return true; };
    ENTITABLE_TRY(auto const visited, detail::visit_shards(of, every, {}, look));
    std::vector<table_difference> all;
    std::vector<table_difference> missing;
    std::map<std::pair<std::string, std::string>, edm_type> known; // the first type of a property of a table
    std::set<std::string> told;
    for (detail::shard_visited const& each : visited.shards) {
        if (!each.outcome) {
            error why = each.outcome.error();
            why.message = text::joined({"the store ", each.store, ": ", why.message});
            return failure{std::move(why)};
        }
        detail::shard_schema& here = found[each.shard];
        std::move(here.missing.begin(), here.missing.end(), std::back_inserter(missing));
        for (auto const& [property, types] : here.types) {
            for (edm_type const type : types) {
                edm_type const first = known.try_emplace(property, type).first->second;
                std::string said =
                    text::joined({property.second, " is ", to_string(type), " but also ", to_string(first)});
                if (first != type && told.insert(text::joined({each.store, "/", property.first, "/", said})).second) {
                    all.push_back({table_difference::kind::other_type, each.store, property.first, std::move(said)});
                }
            }
        }
    }
    std::move(missing.begin(), missing.end(), std::back_inserter(all));
    ENTITABLE_TRY(auto const names, of.stores());
    for (std::string const& store : names) {
        ENTITABLE_TRY(auto const unknown, detail::left_over_in(of, store));
        for (std::string const& name : unknown.tables) {
            all.push_back({table_difference::kind::left_over, store, name, name});
        }
    }
    return all;
}

ENTITABLE_DECL result<std::size_t> drop_orphaned_tables(fleet const& of, std::vector<table_difference> const& found) {
    if (of.cloud().state().fixed) {
        return failure{error_code::not_supported, "orphaned tables cannot be detected in hashed stores"};
    }
    std::map<std::string, std::set<std::string>> asked; // by store
    for (table_difference const& each : found) {
        if (each.what == table_difference::kind::left_over) { asked[each.store].insert(each.table); }
    }
    std::size_t dropped = 0;
    for (auto const& [store, wanted] : asked) {
        ENTITABLE_TRY(auto const still, detail::left_over_in(of, store));
        for (std::string const& name : still.tables) {
            if (wanted.find(name) != wanted.end() && detail::was_given_out(*still.map, name)) {
                ENTITABLE_CHECK(detail::drop_shard_table(of.cloud().state(), store, name, {}));
                ++dropped;
            }
        }
    }
    return dropped;
}

ENTITABLE_END_NAMESPACE
