// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/guid.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/mapping/codec.hpp>
#include <entitable/shards/detail/shard_map_rows.hpp>
#include <entitable/shards/detail/shard_part.hpp>
#include <entitable/shards/hash_stores.hpp>
#include <entitable/transport/run_all.hpp>

#include <algorithm>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL hash_stores_state::hash_stores_state(std::vector<std::string> of, store_opener with, std::int64_t at,
    std::chrono::nanoseconds every, clock& clock_of_leases)
    : names(std::move(of)),
      open(std::move(with)),
      generation(at),
      check_every(every),
      time(clock_of_leases),
      stores_(names.size()) {}

ENTITABLE_DECL std::size_t hash_stores_state::place_of(std::string_view name) const noexcept {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

ENTITABLE_DECL result<any_transport> hash_stores_state::store(std::size_t place) {
    if (place >= names.size()) {
        return failure{error_code::invalid_input, "the list of stores on a hash has no such store"};
    }
    std::lock_guard<std::mutex> const guard{lock_};
    watched& here = stores_[place];
    if (!here.through) {
        auto made = open(names[place]);
        if (!made) {
            failure named{made.error()};
            named.error().message =
                text::joined({"the store ", names[place], " cannot be opened: ", made.error().message});
            return named;
        }
        here.through.emplace(*std::move(made));
    }
    return *here.through;
}

inline failure wrong_store(std::string_view name, std::size_t place, std::size_t number, std::string_view found) {
    return failure{error_code::wrong_store,
        text::joined({"the store ", name, ", place ", std::to_string(place), " of ", std::to_string(number),
            " in the list, ", found, ": the list of stores, or what a name of it opens, is a wrong one"})};
}

ENTITABLE_DECL result<void> hash_stores_state::judge(std::size_t place, result<query_entities::response> const& found) {
    std::string const& name = names[place];
    auto const refuse = [&](std::initializer_list<std::string_view> what) {
        return wrong_store(name, place, names.size(), text::joined(what));
    };
    bool const no_table = !found &&
        (found.error().code == error_code::table_not_found || found.error().code == error_code::resource_not_found);
    if (!found && !no_table) {
        failure named{found.error()};
        named.error().message =
            text::joined({"the header of the store ", name, " cannot be read: ", found.error().message});
        named.error().effect = effect::none;
        return named;
    }
    std::string others;
    for (std::size_t index = 0; found && index < found->rows.size(); ++index) {
        hash_store_header header;
        if (auto read = from_row(found->rows[index], header); !read) {
            return refuse({"has a header that cannot be read: ", read.error().message});
        }
        if (header.generation != generation) {
            others += text::joined({others.empty() ? ", but of " : ", ", std::to_string(header.generation)});
            continue;
        }
        if (header.hash_version != shard_hash_version) {
            return refuse({"is of the version ", std::to_string(header.hash_version), " of the hash, not ",
                std::to_string(shard_hash_version)});
        }
        if (header.number != static_cast<std::int32_t>(names.size()) ||
            header.place != static_cast<std::int32_t>(place)) {
            return refuse({"says place ", std::to_string(header.place), " of ", std::to_string(header.number)});
        }
        std::lock_guard<std::mutex> const guard{lock_};
        if (fleet.empty()) {
            fleet = header.fleet;
        }
        if (header.fleet != fleet) {
            return refuse({"is of the fleet ", header.fleet, ", not ", fleet});
        }
        return {};
    }
    return refuse({"has no header of generation ", std::to_string(generation), others});
}

ENTITABLE_DECL std::vector<result<any_transport>> hash_stores_state::checked(
    std::vector<std::size_t> const& places, call const& caller) {
    std::vector<result<any_transport>> all;
    std::vector<std::size_t> due; // which of them
    all.reserve(places.size());
    steady_time const now = time.steady();
    for (std::size_t const place : places) {
        all.push_back(store(place));
        if (!all.back()) {
            continue;
        }
        std::lock_guard<std::mutex> const guard{lock_};
        watched& here = stores_[place];
        bool const good = here.checked_at && now < *here.checked_at + check_every;
        if (!good && !(here.checked_at && here.checking)) { // who checks again makes nobody wait
            here.checking = true;
            due.push_back(all.size() - 1);
        }
    }
    if (due.empty()) {
        return all;
    }
    query_entities asked{std::string{hash_headers_table}, {}, {}, {}, 1000, {}};
    asked.range.partition = key_interval::only(hash_store_header{}.part);
    poll_driver io{time};
    std::vector<shared<channel>> channels;
    std::vector<channel*> ways;
    std::vector<shard_page_request> requests;
    std::vector<call> calls(due.size());
    for (std::size_t at = 0; at < due.size(); ++at) {
        channels.push_back(open_channel(*all[due[at]], io));
        ways.push_back(channels.back().get());
        requests.emplace_back(asked, at);
        calls[at].deadline = caller.deadline;
        calls[at].cancellation = caller.cancellation;
    }
    struct at_end {
        hash_stores_state& state;
        std::vector<std::size_t> const& places;
        std::vector<std::size_t> const& due;
        ~at_end() {
            std::lock_guard<std::mutex> const guard{state.lock_};
            for (std::size_t const each : due) {
                state.stores_[places[each]].checking = false;
            }
        }
    } const end{*this, places, due};
    (void)run_all(requests, calls, ways, io, requests.size());
    for (std::size_t at = 0; at < due.size(); ++at) {
        std::size_t const place = places[due[at]];
        auto judged = judge(place, requests[at].finish());
        std::lock_guard<std::mutex> const guard{lock_};
        stores_[place].checked_at.reset();
        if (judged) {
            stores_[place].checked_at = now;
        } else {
            all[due[at]] = result<any_transport>{std::move(judged).as_failure()};
        }
    }
    return all;
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
            list_tables asked;
            do {
                call context;
                context.deadline = caller.deadline;
                context.cancellation = caller.cancellation;
                ENTITABLE_TRY(auto some, through.execute(asked, context));
                for (std::string& each : some.tables) {
                    if (each.size() > suffix.size() && each.ends_with(suffix)) {
                        found.push_back(each.substr(0, each.size() - suffix.size()));
                    }
                }
                asked.continuation = std::move(some.continuation);
            } while (asked.continuation);
            return found;
        }();
        if (listed) {
            return listed;
        }
        if (!last || last->error().code != error_code::wrong_store) {
            last.emplace(listed.error());
        }
    }
    return *std::move(last);
}

ENTITABLE_DECL result<query_entities::response> hash_catalogue::execute(
    query_entities const& request, call& context) const {
    constexpr std::int64_t checks_a_lease = 3; // a copy of a map is renewed at a third of its lease
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
    for (std::string const& each : names) {
        tables.push_back({each, stores.generation, false});
    }
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
        "stores on a hash have no map that changes: shards do not move, and there are no rules; copy to the next "
        "generation instead"};
}

ENTITABLE_DECL result<get_entity::response> hash_catalogue::execute(get_entity const&, call&) const {
    return failure{error_code::resource_not_found, "stores on a hash have no map"};
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
            "stores on a hash are 1 to 900 different names with letters, digits, \"-\", \"_\" and \".\", 1 to 63; "
            "their "
            "generation is 1 to 999999999, and they are checked every 1 ms to 8 h"};
    }
    return {};
}

} // namespace detail

ENTITABLE_DECL sharded::sharded(hash_stores const& stores, sharded_options const& options)
    : state_(shared<detail::sharded_state>::make(
          stores.map(), [state = stores.state()](std::string_view name) { return state->store(state->place_of(name)); },
          options)) {
    state_->fixed = stores.state();
}

ENTITABLE_DECL result<hash_stores> hash_stores::open(
    std::vector<std::string> stores, store_opener opener, hash_stores_options const& options) {
    ENTITABLE_CHECK(detail::check_hash_stores(stores, options));
    auto state = shared<detail::hash_stores_state>::make(
        std::move(stores), std::move(opener), options.generation, options.check_every, *options.time);
    std::vector<std::size_t> places(state->names.size());
    for (std::size_t place = 0; place < places.size(); ++place) {
        places[place] = place;
    }
    auto const reached = state->checked(places, {});
    for (auto const& each : reached) {
        if (!each && each.error().code == error_code::wrong_store) {
            return failure{each.error()};
        }
    }
    if (std::none_of(reached.begin(), reached.end(), [](auto const& each) { return each.has_value(); })) {
        return failure{reached.front().error()};
    }
    auto map = lookup_map::open(any_transport{detail::hash_catalogue{state}}, "stores",
        virtual_shards::jump(static_cast<std::uint32_t>(state->names.size())), {3 * options.check_every, options.time});
    if (!map) {
        return std::move(map).as_failure();
    }
    return hash_stores{std::move(state), *std::move(map)};
}

ENTITABLE_DECL result<hash_stores> hash_stores::make(
    std::vector<std::string> stores, store_opener opener, hash_stores_options const& options) {
    ENTITABLE_CHECK(detail::check_hash_stores(stores, options));
    auto const state =
        shared<detail::hash_stores_state>::make(stores, opener, options.generation, options.check_every, *options.time);
    std::string const table{detail::hash_headers_table};
    hash_store_header header;
    header.generation = options.generation;
    header.number = static_cast<std::int32_t>(stores.size());
    header.hash_version = shard_hash_version;
    query_entities asked{table, {}, {}, {}, 1000, {}};
    asked.range.partition = key_interval::only(header.part);
    std::vector<bool> there(stores.size());
    for (std::size_t place = 0; place < stores.size(); ++place) { // all, before anything is written
        ENTITABLE_TRY(auto const through, state->store(place));
        call context;
        if (auto made = through.execute(create_table{table}, context);
            !made && made.error().code != error_code::table_already_exists) {
            return std::move(made).as_failure();
        }
        ENTITABLE_TRY(auto found, through.execute(asked, context));
        ENTITABLE_TRY(std::string const key, row_key_of(header));
        for (std::size_t index = 0; index < found.rows.size(); ++index) {
            there[place] = there[place] || found.rows[index].row_key == key;
        }
        if (there[place]) {
            ENTITABLE_CHECK(state->judge(place, std::move(found)));
        }
    }
    // The first store decides whose fleet it is where two programs make it at once.
    header.fleet = state->fleet.empty() ? guid::random().to_string() : state->fleet;
    for (std::size_t place = 0; place < stores.size(); ++place) {
        if (there[place]) {
            continue;
        }
        ENTITABLE_TRY(auto const through, state->store(place));
        header.place = static_cast<std::int32_t>(place);
        ENTITABLE_TRY(auto made, to_row(header));
        call context;
        auto done = through.execute(write_entity{table, mutation::insert(std::move(made))}, context);
        if (!done && done.error().code != error_code::entity_already_exists) {
            return std::move(done).as_failure();
        }
        call again;
        ENTITABLE_CHECK(state->judge(place, through.execute(asked, again)));
        header.fleet = state->fleet;
    }
    return open(std::move(stores), std::move(opener), options);
}

ENTITABLE_DECL result<void> hash_stores::retire() const {
    if (!state_) {
        return detail::moved_from("list of stores");
    }
    hash_store_header header;
    header.generation = state_->generation;
    for (std::size_t place = 0; place < state_->names.size(); ++place) {
        ENTITABLE_TRY(auto const through, state_->store(place));
        ENTITABLE_TRY(auto keys, to_row(header));
        call context;
        auto done = through.execute(
            write_entity{std::string{detail::hash_headers_table}, mutation::remove(std::move(keys), any_etag)},
            context);
        if (!done && done.error().code != error_code::resource_not_found &&
            done.error().code != error_code::table_not_found) {
            return std::move(done).as_failure();
        }
    }
    return {};
}

ENTITABLE_END_NAMESPACE
