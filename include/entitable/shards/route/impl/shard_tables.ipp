// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/part_hash.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/route/detail/map_stores.hpp>
#include <entitable/shards/route/detail/shard_tables.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL bool meets_range(shard_place const& place, key_range const& range) {
    return !intersection(place.keys(), range.partition).is_empty();
}

ENTITABLE_DECL result<void> drop_shard_table(
    sharded_state& state, std::string_view store, std::string table, call const& caller) {
    call context;
    context.deadline = caller.deadline;
    context.cancellation = caller.cancellation;
    ENTITABLE_TRY(auto const through, state.store(store));
    auto const dropped = through.execute(delete_table{std::move(table), true}, context);
    if (!dropped && !is_absent(dropped)) { return failure{dropped.error()}; }
    return {};
}

inline result<void> none_is_moving(shard_map_copy const& map) {
    for (shard_place const& each : map.places) {
        if (!each.row.attempt_owner.empty()) {
            failure busy{error_code::shard_moving,
                text::joined(
                    {"tables cannot be created or dropped during the move of shard ", std::to_string(each.row.shard)})};
            busy.error().retry_after = std::chrono::milliseconds{200};
            return busy;
        }
    }
    return {};
}

/// Finds a logical table that is not being dropped; the end if there is none.
inline std::vector<shard_table>::iterator position_of(std::vector<shard_table>& tables, std::string_view name) {
    std::string const wanted = text::ascii_lower(name);
    return std::find_if(tables.begin(), tables.end(),
        [&](shard_table const& each) { return !each.dropping && text::ascii_lower(each.name) == wanted; });
}

ENTITABLE_DECL failure lost_part(shard_place const& place, shard_table const& table) {
    return wrong_store(place.row.store,
        text::joined({" lacks ", place.table_name(table), ", which holds the rows of ", table.name,
            " for virtual shard ", std::to_string(place.row.shard),
            ": the store was emptied or replaced; repair_tables creates this table again, without its rows"}));
}

/// Whether a table of this name in a store belongs to a table that is not being dropped.
inline bool is_in_use(shard_map_copy const& map, std::string_view store, std::string_view name) {
    for (shard_place const& place : map.places) {
        if (place.row.store != store) { continue; }
        for (shard_table const& table : map.tables) {
            if (!table.dropping && place.table_name(table) == name) { return true; }
        }
    }
    return false;
}

/// Drops the parts of a table that is being dropped. If a part cannot be dropped, the other parts still are, and the last error is
/// returned.
inline result<void> drop_parts(
    sharded_state& state, shard_map_copy const& map, shard_table const& table, call const& context) {
    std::optional<failure> left;
    auto const drop = [&](std::string const& store, std::string name) {
        if (is_in_use(map, store, name)) { // created again since, under an epoch that both have
            return;
        }
        if (auto done = drop_shard_table(state, store, std::move(name), context); !done && !left) {
            left.emplace(std::move(done).as_failure());
            left->error().message = text::joined(
                {"the table was dropped, except its parts in the store ", store, ": ", left->error().message});
        }
    };
    for (shard_place const& each : map.places) {
        drop(each.row.store, each.table_name(table));
        for (shard_retired const& old : each.retired) {
            if (table.epoch < old.until) {
                drop(old.store, shard_table_name(table.name, old.shard, (std::max)(old.epoch, table.epoch)));
            }
        }
    }
    return left ? result<void>{*std::move(left)} : result<void>{};
}

/// Drops the remaining parts of dropped tables of a name, and removes tables without parts from the map.
inline result<void> finish_dropping(sharded_state& state, std::string const& table, call const& context) {
    ENTITABLE_TRY(auto const map, state.map.state().fresh(context));
    std::vector<std::int64_t> done; // epochs of the tables without parts
    result<void> outcome;
    for (shard_table const& each : map->tables) {
        if (each.dropping && text::ascii_lower(each.name) == text::ascii_lower(table)) {
            auto dropped = drop_parts(state, *map, each, context);
            if (dropped) {
                done.push_back(each.epoch);
            } else {
                outcome = std::move(dropped);
            }
        }
    }
    auto const is_done = [&](shard_table const& each) {
        return each.dropping && std::find(done.begin(), done.end(), each.epoch) != done.end();
    };
    auto const remove_done = [&](shard_map_copy const&, shard_map_draft& draft) -> result<bool> {
        return std::erase_if(draft.tables, is_done) > 0;
    };
    if (!done.empty()) { ENTITABLE_CHECK(state.map.state().change(context, remove_done)); }
    return outcome;
}

/// Creates the parts of a table, then marks it complete in the map. After that a missing part was lost, and is an error.
inline result<void> make_parts(sharded_state& state, std::string const& name, call& context) {
    constexpr int most_rounds = 10; // shards may move in the meantime
    for (int round = 0; round < most_rounds; ++round) {
        ENTITABLE_TRY(auto const map, state.map.state().fresh(context));
        shard_table const* const found = map->find(name);
        if (found == nullptr || found->dropping) { return {}; }
        bool moved = false;
        for (shard_place const& each : map->places) {
            if (found->whole) {
                if (auto part = check_part(state, each, *found, context); !part) {
                    ENTITABLE_TRY(moved, has_changed(*map, state.map.state()));
                    if (!moved) { return std::move(part).as_failure(); }
                    break;
                }
                continue;
            }
            ENTITABLE_TRY(auto const through, state.store(each.row.store, context));
            auto const made = through.execute(create_table{each.table_name(*found), true}, context);
            if (!made && made.error().code != error_code::table_already_exists) { return failure{made.error()}; }
        }
        if (moved) { continue; }
        if (found->whole || map->identity.empty()) { return {}; }
        bool ended = false;
        std::int64_t const epoch = found->epoch;
        ENTITABLE_CHECK(
            state.map.state().change(context, [&](shard_map_copy const& now, shard_map_draft& draft) -> result<bool> {
                auto const at = position_of(draft.tables, name);
                ended = at == draft.tables.end() || at->epoch != epoch || at->whole;
                if (ended) { return false; }
                // The new parts are valid if the shards have not moved.
                ended = std::equal(now.places.begin(), now.places.end(), map->places.begin(), map->places.end(),
                    [&](shard_place const& left, shard_place const& right) {
                        return left.row.store == right.row.store && left.table_name(*at) == right.table_name(*at);
                    });
                at->whole = ended;
                return ended;
            }));
        if (ended) { return {}; }
    }
    return failure{error_code::shard_moving, "shards moved during every attempt to create the table's parts"};
}

ENTITABLE_DECL result<create_table::response> create_sharded_table(
    sharded_state& state, create_table const& request, call& context) {
    constexpr std::size_t most_of_list = 30'000; // a text property has 32 Ki units
    ENTITABLE_CHECK(validate(request, state.profile()));
    ENTITABLE_CHECK(check_call(context));
    if (state.fixed) { return create_hashed_table(state, request, context); }
    static_cast<void>(finish_dropping(state, request.table, context)); // leftovers have other names
    bool made_now = false;
    std::int64_t own = 0;
    ENTITABLE_CHECK(
        state.map.state().change(context, [&](shard_map_copy const& map, shard_map_draft& draft) -> result<bool> {
            auto const at = position_of(draft.tables, request.table);
            if (at != draft.tables.end()) {
                made_now = own != 0 && at->epoch == own; // applied by an earlier send of this change
                return false;
            }
            ENTITABLE_CHECK(none_is_moving(map));
            std::string const wanted = text::ascii_lower(request.table);
            std::size_t names = request.table.size() + 24;
            for (shard_table const& each : draft.tables) {
                std::string const known = text::ascii_lower(each.name);
                names += each.name.size() + 24;
                if (known != wanted && shard_table_name(known, 0, 0) == shard_table_name(wanted, 0, 0)) {
                    return failure{
                        error_code::invalid_resource_name, "the shortened table name is already used by another table"};
                }
            }
            if (names > most_of_list) {
                return failure{error_code::invalid_input, "the shard map is full: it cannot list another table"};
            }
            own = draft.header.next_epoch++;
            draft.tables.push_back({request.table, own, false, false});
            made_now = true;
            return true;
        }));
    // This happens even if the table existed, because an earlier attempt may have been interrupted.
    if (auto made = make_parts(state, request.table, context); !made) {
        failure stopped{std::move(made).as_failure()};
        if (stopped.error().code != error_code::wrong_store || made_now) {
            stopped.error().effect = effect::unknown; // the table is in the map, so repeating the call continues
        }
        return stopped;
    }
    if (!made_now) { return failure{error_code::table_already_exists, "the table already exists"}; }
    return create_table::response{};
}

ENTITABLE_DECL result<delete_table::response> delete_sharded_table(
    sharded_state& state, delete_table const& request, call& context) {
    ENTITABLE_CHECK(validate(request, state.profile()));
    ENTITABLE_CHECK(check_call(context));
    if (state.fixed) { return delete_hashed_table(state, request, context); }
    bool found = false;
    ENTITABLE_CHECK(
        state.map.state().change(context, [&](shard_map_copy const& map, shard_map_draft& draft) -> result<bool> {
            auto const at = position_of(draft.tables, request.table);
            if (at == draft.tables.end()) { return false; }
            ENTITABLE_CHECK(none_is_moving(map));
            at->dropping = true;
            found = true;
            return true;
        }));
    ++context.attempts;
    auto done = finish_dropping(state, request.table, context); // this also finishes an interrupted drop
    if (!done) {
        failure stopped{std::move(done).as_failure()};
        stopped.error().effect = effect::unknown;
        return stopped;
    }
    if (!found) { return failure{error_code::resource_not_found, "the table does not exist"}; }
    return delete_table::response{};
}

inline std::string token_of_tables(std::string_view last) {
    part_hash hash{3};
    hash.add(last);
    return text::joined({"1!", std::to_string(hash.value()), "!", last});
}

ENTITABLE_DECL result<list_tables::response> list_sharded_tables(
    sharded_state& state, list_tables const& request, call& context) {
    ENTITABLE_CHECK(validate(request, state.profile()));
    ENTITABLE_CHECK(check_call(context));
    std::string after;
    if (request.continuation) {
        std::size_t const at = request.continuation->rfind('!');
        after = at == std::string::npos ? std::string{} : request.continuation->substr(at + 1);
        if (after.empty() || token_of_tables(after) != *request.continuation) {
            return failure{error_code::continuation_invalid, "invalid continuation token for a list of tables"};
        }
    }
    ++context.attempts;
    ENTITABLE_TRY(auto const map, state.map.state().fresh(context));
    std::vector<std::pair<std::string, std::string>> names;
    for (shard_table const& each : map->tables) {
        std::string key = text::ascii_lower(each.name);
        if (!each.dropping && key > after) { names.emplace_back(std::move(key), each.name); }
    }
    std::sort(names.begin(), names.end());
    list_tables::response found;
    for (auto const& [key, name] : names) {
        if (found.tables.size() == request.page_size) {
            found.continuation = token_of_tables(text::ascii_lower(found.tables.back()));
            break;
        }
        found.tables.push_back(name);
    }
    return found;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
