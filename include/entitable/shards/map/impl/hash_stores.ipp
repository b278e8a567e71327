// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/shard_map_rows.hpp>
#include <entitable/shards/map/detail/store_rows.hpp>
#include <entitable/shards/map/hash_stores.hpp>

#include <algorithm>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL hash_stores_state::hash_stores_state(std::vector<std::string> of, store_opener with, std::int64_t at,
    std::chrono::nanoseconds every, clock& clock_of_leases)
    : names(std::move(of)), generation(at), check_every(every), stores(std::move(with), every, clock_of_leases) {}

ENTITABLE_DECL std::size_t hash_stores_state::place_of(std::string_view name) const noexcept {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

inline failure no_such_place() {
    return failure{error_code::invalid_input, "the store is not in the list of hashed stores"};
}

ENTITABLE_DECL result<any_store> hash_stores_state::store(std::size_t place) {
    return place < names.size() ? stores.open(names[place]) : no_such_place();
}

ENTITABLE_DECL result<void> hash_stores_state::judge(std::size_t place, store_rows const& rows, bool being_made) {
    std::string const& name = names[place];
    auto const refuse = [&](std::initializer_list<std::string_view> what) {
        return wrong_store(name,
            text::joined({", place ", std::to_string(place), " of ", std::to_string(names.size()), " in the list, ",
                text::joined(what), ": the list is wrong, or one of its names opens the wrong store"}));
    };
    std::string others;
    for (found_header const& each : rows.headers) {
        hash_store_header const& header = each.header;
        if (header.generation != generation) {
            others += text::joined({others.empty() ? ", but for " : ", ", std::to_string(header.generation)});
            continue;
        }
        if (is_retired(header)) { return refuse({"is retired as generation ", std::to_string(generation)}); }
        if (header.hash_version != shard_hash_version) {
            return refuse({"has hash version ", std::to_string(header.hash_version), ", not ",
                std::to_string(shard_hash_version)});
        }
        if (header.number != static_cast<std::int32_t>(names.size()) ||
            header.place != static_cast<std::int32_t>(place)) {
            return refuse({"has place ", std::to_string(header.place), " of ", std::to_string(header.number)});
        }
        std::lock_guard<std::mutex> const guard{lock_};
        if (fleet.empty()) { fleet = header.fleet; }
        if (header.fleet != fleet) { return refuse({"belongs to the fleet ", header.fleet, ", not ", fleet}); }
        if (rows.identity) { return refuse({"belongs to the map ", rows.identity->map, " as well"}); }
        if (is_being_made(header) && !being_made) { return refuse({"is incomplete: make the stores again"}); }
        return {};
    }
    return refuse({rows.identity ? "belongs to a map and " : "", "has no header for generation ",
        std::to_string(generation), others});
}

ENTITABLE_DECL std::vector<result<any_store>> hash_stores_state::checked(
    std::vector<std::size_t> const& places, call const& caller) {
    std::vector<std::string_view> wanted;
    wanted.reserve(places.size());
    for (std::size_t const place : places) {
        if (place >= names.size()) { return std::vector<result<any_store>>(places.size(), no_such_place()); }
        wanted.push_back(names[place]);
    }
    return stores.checked(
        wanted, caller, [](std::string_view) { return true; },
        [&](std::string_view name, result<query_entities::response> const& found) -> result<void> {
            ENTITABLE_TRY(auto const rows, store_rows_in(name, found));
            return judge(place_of(name), rows, false);
        });
}

ENTITABLE_DECL result<std::vector<std::string>> hash_stores_state::tables(call const& caller) {
    std::optional<failure> last;
    for (std::size_t place = 0; place < names.size(); ++place) {
        std::string suffix;
        text::append_decimal(suffix, place, 4);
        suffix += text::joined({"x", std::to_string(generation)});
        auto const listed = [&]() -> result<std::vector<std::string>> {
            ENTITABLE_TRY(auto const through, std::move(checked({place}, caller).front()));
            std::vector<std::string> found;
            page_cursor pages{list_tables{}};
            while (pages.more()) {
                call context;
                context.deadline = caller.deadline;
                context.cancellation = caller.cancellation;
                ENTITABLE_TRY(auto const some, pages.take(through.execute(pages.request(), context)));
                for (std::string const& each : some.tables) {
                    if (each.size() > suffix.size() && each.ends_with(suffix)) {
                        found.push_back(each.substr(0, each.size() - suffix.size()));
                    }
                }
            }
            if (found.empty()) { // the store may have been emptied since its header was read
                stores.doubt(names[place]);
                ENTITABLE_CHECK(checked({place}, caller).front());
            }
            return found;
        }();
        if (listed) { return listed; }
        if (!last || last->error().code != error_code::wrong_store) { last.emplace(listed.error()); }
    }
    return *std::move(last);
}

ENTITABLE_DECL result<query_entities::response> hash_catalogue::execute(
    query_entities const& request, call& context) const {
    constexpr std::int64_t checks_a_lease = 3; // a copy of a map is renewed after a third of its lease
    hash_stores_state& stores = *stores_;
    ENTITABLE_TRY(auto const names, stores.tables(context));
    query_entities::response found;
    auto const add = [&](auto const& entity) -> result<void> {
        ENTITABLE_TRY(auto const made, to_row(entity));
        if (request.range.contains(made.partition_key(), made.row_key())) {
            found.rows.append(row{made.partition_key(), made.row_key(), made.view().payload, "W/\"fixed\""});
        }
        return {};
    };
    shard_map_header header;
    std::vector<shard_table> tables;
    for (std::string const& each : names) { tables.push_back({each, stores.generation, false, true}); }
    header.strategy = "jump";
    header.hash_version = shard_hash_version;
    header.number = static_cast<std::int32_t>(stores.names.size());
    header.fingerprint =
        static_cast<std::int64_t>(virtual_shards::jump(static_cast<std::uint32_t>(stores.names.size())).fingerprint());
    header.version = stores.generation;
    header.next_epoch = stores.generation + 1;
    header.tables = text_of(tables);
    ENTITABLE_CHECK(add(header));
    for (std::size_t place = 0; place < stores.names.size(); ++place) {
        shard_map_row row;
        row.shard = static_cast<std::int32_t>(place);
        row.state = "open";
        row.store = stores.names[place];
        row.epoch = stores.generation;
        row.lease_ms =
            checks_a_lease * std::chrono::duration_cast<std::chrono::milliseconds>(stores.check_every).count();
        row.open_lease_ms = row.lease_ms;
        ENTITABLE_CHECK(add(row));
    }
    return found;
}

inline failure no_map_to_change() {
    return failure{error_code::not_supported,
        "hashed stores have no shard map, so shards cannot move and there are no rules; copy to the next "
        "generation instead"};
}

ENTITABLE_DECL result<get_entity::response> hash_catalogue::execute(get_entity const&, call&) const {
    return failure{error_code::resource_not_found, "hashed stores have no shard map"};
}
ENTITABLE_DECL result<write_entity::response> hash_catalogue::execute(write_entity const&, call&) const {
    return no_map_to_change();
}
ENTITABLE_DECL result<transact::response> hash_catalogue::execute(transact const&, call&) const {
    return no_map_to_change();
}

inline result<void> check_hash_stores(std::vector<std::string> const& stores, hash_stores_options const& options) {
    bool const distinct = std::set<std::string>{stores.begin(), stores.end()}.size() == stores.size();
    if (stores.empty() || stores.size() > virtual_shards::most || !distinct ||
        !std::all_of(stores.begin(), stores.end(), is_store_name) || options.generation < 1 ||
        options.generation > 999'999'999 || options.check_every < std::chrono::milliseconds{1} ||
        options.check_every > std::chrono::hours{8}) {
        return failure{error_code::invalid_input,
            "hashed stores must have 1 to 900 different names of 1 to 63 letters, digits, \"-\", \"_\" or \".\", a "
            "generation from 1 to 999999999, and check_every from 1 ms to 8 h"};
    }
    return {};
}

} // namespace detail

ENTITABLE_DECL result<hash_stores> hash_stores::open(
    std::vector<std::string> stores, store_opener opener, hash_stores_options const& options) {
    ENTITABLE_CHECK(detail::check_hash_stores(stores, options));
    auto state = shared<detail::hash_stores_state>::make(
        std::move(stores), std::move(opener), options.generation, options.check_every, *options.time);
    std::vector<std::size_t> places(state->names.size());
    for (std::size_t place = 0; place < places.size(); ++place) { places[place] = place; }
    auto const reached = state->checked(places, {});
    for (auto const& each : reached) {
        if (!each && each.error().code == error_code::wrong_store) { return failure{each.error()}; }
    }
    if (std::none_of(reached.begin(), reached.end(), [](auto const& each) { return each.has_value(); })) {
        return failure{reached.front().error()};
    }
    auto map = lookup_map::open(any_store{detail::hash_catalogue{state}}, "stores",
        virtual_shards::jump(static_cast<std::uint32_t>(state->names.size())), {3 * options.check_every, options.time});
    if (!map) { return std::move(map).as_failure(); }
    return hash_stores{std::move(state), *std::move(map)};
}

ENTITABLE_END_NAMESPACE
