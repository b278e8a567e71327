// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/request/part_hash.hpp>
#include <entitable/request/validate.hpp>
#include <entitable/shards/detail/shard_tables.hpp>

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
    auto const dropped = through.execute(delete_table{std::move(table)}, context);
    if (!dropped && dropped.error().code != error_code::resource_not_found &&
        dropped.error().code != error_code::table_not_found) {
        return failure{dropped.error()};
    }
    return {};
}

inline result<void> none_is_moving(shard_map_copy const& map) {
    for (shard_place const& each : map.places) {
        if (!each.row.attempt_owner.empty()) {
            failure busy{error_code::shard_moving,
                text::joined({"tables are not made or dropped while a shard moves: ", std::to_string(each.row.shard)})};
            busy.error().retry_after = std::chrono::milliseconds{200};
            return busy;
        }
    }
    return {};
}

/// Where a logical table stands in a list; the end where it does not.
inline std::vector<shard_table>::iterator position_of(std::vector<shard_table>& tables, std::string_view name) {
    std::string const wanted = text::ascii_lower(name);
    return std::find_if(
        tables.begin(), tables.end(), [&](shard_table const& each) { return text::ascii_lower(each.name) == wanted; });
}

/// Drops what is left of a table that is being dropped, and takes it out of the map.
inline result<void> finish_dropping(sharded_state& state, std::string const& table, call const& context) {
    ENTITABLE_TRY(auto const map, state.map.state().fresh(context));
    shard_table const* const found = map->find(table);
    if (found == nullptr || !found->dropping) {
        return {};
    }
    for (shard_place const& each : map->places) {
        ENTITABLE_CHECK(drop_shard_table(state, each.row.store, each.table_name(*found), context));
        for (shard_retired const& old : each.retired) {
            if (found->epoch < old.until) {
                ENTITABLE_CHECK(drop_shard_table(state, old.store,
                    shard_table_name(found->name, old.shard, (std::max)(old.epoch, found->epoch)), context));
            }
        }
    }
    std::int64_t const epoch = found->epoch;
    return state.map.state().change(context, [&](shard_map_copy const&, shard_map_draft& draft) -> result<bool> {
        auto const at = position_of(draft.tables, table);
        if (at == draft.tables.end() || !at->dropping || at->epoch != epoch) {
            return false;
        }
        draft.tables.erase(at);
        return true;
    });
}

/// The name of a table as it was created; as it is asked for where there is none.
inline result<std::string> name_in_stores(sharded_state& state, std::string const& asked, call const& context) {
    ENTITABLE_TRY(auto const map, state.map.state().fresh(context));
    shard_table const* const known = map->find(asked);
    return known != nullptr ? known->name : asked;
}

/// Makes a table in every store on a hash, in the first one last: so it is there for all as soon as it is in the first.
inline result<create_table::response> create_hashed_table(
    sharded_state& state, create_table const& request, call& context) {
    constexpr std::size_t longest = 46; // longer ones are shortened, and could not be listed
    if (request.table.size() > longest) {
        return failure{
            error_code::invalid_resource_name, "over stores on a hash the name of a table has 46 characters at most"};
    }
    ENTITABLE_TRY(std::string const name, name_in_stores(state, request.table, context));
    std::vector<std::string> const& stores = state.fixed->names;
    ++context.attempts;
    for (std::size_t place = stores.size(); place-- > 0;) {
        auto made = [&]() -> result<create_table::response> {
            ENTITABLE_TRY(auto const through, state.store(stores[place], context));
            call own;
            own.deadline = context.deadline;
            own.cancellation = context.cancellation;
            return through.execute(
                create_table{shard_table_name(name, static_cast<std::int32_t>(place), state.fixed->generation)}, own);
        }();
        bool const there = !made && made.error().code == error_code::table_already_exists;
        if (!made && !(there && place > 0)) {
            failure stopped{made.error()};
            stopped.error().effect = there || place + 1 == stores.size() ? made.error().effect : effect::unknown;
            return stopped;
        }
    }
    return create_table::response{};
}

/// Drops a table in every store on a hash, in the first one first.
inline result<delete_table::response> delete_hashed_table(
    sharded_state& state, delete_table const& request, call& context) {
    ENTITABLE_TRY(std::string const name, name_in_stores(state, request.table, context));
    std::vector<std::string> const& stores = state.fixed->names;
    ++context.attempts;
    bool found = false;
    for (std::size_t place = 0; place < stores.size(); ++place) {
        auto dropped = [&]() -> result<delete_table::response> {
            ENTITABLE_TRY(auto const through, state.store(stores[place], context));
            call own;
            own.deadline = context.deadline;
            own.cancellation = context.cancellation;
            return through.execute(
                delete_table{shard_table_name(name, static_cast<std::int32_t>(place), state.fixed->generation)}, own);
        }();
        bool const absent = !dropped &&
            (dropped.error().code == error_code::resource_not_found ||
                dropped.error().code == error_code::table_not_found);
        if (!dropped && !absent) {
            failure stopped{dropped.error()};
            stopped.error().effect = found ? effect::unknown : dropped.error().effect;
            return stopped;
        }
        found = found || (!absent && place == 0);
    }
    if (!found) {
        return failure{error_code::resource_not_found, "there is no table of that name"};
    }
    return delete_table::response{};
}

ENTITABLE_DECL result<create_table::response> create_sharded_table(
    sharded_state& state, create_table const& request, call& context) {
    constexpr std::size_t most_of_list = 30'000; // a text property has 32 Ki units
    ENTITABLE_CHECK(validate(request, state.profile()));
    ENTITABLE_CHECK(check_call(context));
    if (state.fixed) {
        return create_hashed_table(state, request, context);
    }
    ENTITABLE_CHECK(finish_dropping(state, request.table, context));
    bool made_now = false;
    std::int64_t own = 0;
    ENTITABLE_CHECK(
        state.map.state().change(context, [&](shard_map_copy const& map, shard_map_draft& draft) -> result<bool> {
            ENTITABLE_CHECK(none_is_moving(map));
            auto const at = position_of(draft.tables, request.table);
            if (at != draft.tables.end()) {
                made_now = own != 0 && at->epoch == own; // by an earlier sending of this very change
                return false;
            }
            std::size_t names = request.table.size() + 24;
            for (shard_table const& each : draft.tables) {
                names += each.name.size() + 24;
                if (shard_table_name(text::ascii_lower(each.name), 0, 0) ==
                    shard_table_name(text::ascii_lower(request.table), 0, 0)) {
                    return failure{error_code::invalid_resource_name,
                        "the name of the table cannot be told from that of another one once it is shortened"};
                }
            }
            if (names > most_of_list) {
                return failure{error_code::invalid_input, "the map of the shards has no room for another table"};
            }
            own = draft.header.next_epoch++;
            draft.tables.push_back({request.table, own, false});
            made_now = true;
            return true;
        }));
    // Also where the table was there: an earlier attempt may have ended in between.
    ENTITABLE_TRY(auto const map, state.map.state().fresh(context));
    shard_table const* const found = map->find(request.table);
    if (found != nullptr && !found->dropping) {
        for (shard_place const& each : map->places) {
            ENTITABLE_TRY(auto const through, state.store(each.row.store));
            auto const made = through.execute(create_table{each.table_name(*found)}, context);
            if (!made && made.error().code != error_code::table_already_exists) {
                failure stopped{made.error()};
                stopped.error().effect = effect::unknown; // it is in the map: who asks again goes on
                return stopped;
            }
        }
    }
    if (!made_now) {
        return failure{error_code::table_already_exists, "there is a table of that name"};
    }
    return create_table::response{};
}

ENTITABLE_DECL result<delete_table::response> delete_sharded_table(
    sharded_state& state, delete_table const& request, call& context) {
    ENTITABLE_CHECK(validate(request, state.profile()));
    ENTITABLE_CHECK(check_call(context));
    if (state.fixed) {
        return delete_hashed_table(state, request, context);
    }
    ENTITABLE_CHECK(finish_dropping(state, request.table, context));
    bool found = false;
    ENTITABLE_CHECK(
        state.map.state().change(context, [&](shard_map_copy const& map, shard_map_draft& draft) -> result<bool> {
            auto const at = position_of(draft.tables, request.table);
            if (at == draft.tables.end() || at->dropping) {
                return false;
            }
            ENTITABLE_CHECK(none_is_moving(map));
            at->dropping = true;
            found = true;
            return true;
        }));
    if (!found) {
        return failure{error_code::resource_not_found, "there is no table of that name"};
    }
    ++context.attempts;
    if (auto done = finish_dropping(state, request.table, context); !done) {
        failure stopped{done.error()};
        stopped.error().effect = effect::unknown;
        return stopped;
    }
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
            return failure{error_code::continuation_invalid, "the continuation token is not one of a list of tables"};
        }
    }
    ++context.attempts;
    ENTITABLE_TRY(auto const map, state.map.state().fresh(context));
    std::vector<std::pair<std::string, std::string>> names;
    for (shard_table const& each : map->tables) {
        std::string key = text::ascii_lower(each.name);
        if (!each.dropping && key > after) {
            names.emplace_back(std::move(key), each.name);
        }
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
