// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/part_hash.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/store_rows.hpp>
#include <entitable/shards/map/hash_stores.hpp>
#include <entitable/shards/route/detail/shard_tables.hpp>
#include <entitable/shards/route/detail/sharded_state.hpp>
#include <entitable/shards/route/impl/shard_kept.ipp>

#include <algorithm>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<void> sharded_state::judge(std::string_view name, result<query_entities::response> const& found) {
    ENTITABLE_TRY(auto const rows, store_rows_in(name, found));
    shard_map_ref known;
    std::string identity;
    {
        std::lock_guard<std::mutex> const guard{map.state().lock};
        known = map.state().held;
        identity = map.state().identity;
    }
    return judge_identity(rows, identity, name, known && known->lists(name));
}

ENTITABLE_DECL result<any_store> sharded_state::store(std::string_view name, call const& context) {
    if (fixed) { return std::move(stores_of({name}, context).front()); }
    return stores.checked(
        name, context, [&](std::string_view) { return map.state().has_identity(); },
        [&](std::string_view of, auto const& found) { return judge(of, found); });
}

ENTITABLE_DECL std::vector<result<any_store>> sharded_state::stores_of(
    std::vector<std::string_view> const& names, call const& context) {
    if (!fixed) {
        return stores.checked(
            names, context, [&](std::string_view) { return map.state().has_identity(); },
            [&](std::string_view of, auto const& found) { return judge(of, found); });
    }
    std::vector<std::size_t> places;
    for (std::string_view const name : names) { places.push_back(fixed->place_of(name)); }
    return fixed->checked(places, context);
}

ENTITABLE_DECL entitable::profile sharded_state::profile() {
    if (options.limits) { return *options.limits; }
    {
        std::lock_guard<std::mutex> const guard{lock};
        if (limits) { return *limits; }
    }
    auto const read = map.state().current({}, map.state().now());
    if (!read) { return storage_profile(); }
    std::optional<entitable::profile> least;
    for (shard_place const& each : (*read)->places) {
        auto const through =
            fixed ? fixed->store(fixed->place_of(each.row.store)) : stores.open(each.row.store); // sends no request
        if (!through) { return storage_profile(); }
        entitable::profile const its = through->profile();
        if (!least) {
            least = its;
            continue;
        }
        auto const lower = [](auto& of, auto const& other) { of = other < of ? other : of; };
        auto const lower_unless_zero = [](auto& of, auto const& other) {
            of = of == 0 ? other : other == 0 || of < other ? of : other;
        };
        auto const raise = [](auto& of, auto const& other) { of = of < other ? other : of; };
        least->kind = least->kind == its.kind ? least->kind : service::storage;
        lower(least->max_key_units, its.max_key_units);
        lower(least->max_properties, its.max_properties);
        lower(least->max_name_units, its.max_name_units);
        lower(least->max_string_units, its.max_string_units);
        lower(least->max_binary_size, its.max_binary_size);
        lower(least->max_entity_size, its.max_entity_size);
        lower(least->max_operations, its.max_operations);
        lower(least->max_transaction_size, its.max_transaction_size);
        lower(least->max_page_size, its.max_page_size);
        lower_unless_zero(least->max_comparisons, its.max_comparisons);
        lower_unless_zero(least->max_filter_size, its.max_filter_size);
        lower_unless_zero(least->max_partition_key_size, its.max_partition_key_size);
        lower_unless_zero(least->max_row_key_size, its.max_row_key_size);
        least->ordered = least->ordered && its.ordered;
        least->operation_ids = least->operation_ids && its.operation_ids;
        least->empty_keys = least->empty_keys && its.empty_keys;
        raise(least->longest_delivery, its.longest_delivery);
        raise(least->longest_work, its.longest_work);
    }
    least->table_names_without_case = true; // the map distinguishes the names
    std::lock_guard<std::mutex> const guard{lock};
    limits = least;
    return *limits;
}

ENTITABLE_DECL sharded_state& absent_sharded_state() {
    static shared<sharded_state> const absent = sharded_state::make_absent();
    return *absent;
}
ENTITABLE_DECL shared<sharded_state> sharded_state::make_absent() {
    return shared<sharded_state>::make(
        lookup_map{shared<lookup_map_state>{}},
        [](std::string_view) -> result<any_store> { return moved_from("shard map"); }, sharded_options{});
}

ENTITABLE_DECL void sharded_state::save_hedges(std::size_t pages) {
    constexpr double most = 10;
    std::lock_guard<std::mutex> const guard{lock};
    hedges = (std::min)(most, hedges + options.hedge->share * static_cast<double>(pages));
}
ENTITABLE_DECL bool sharded_state::take_hedge() {
    std::lock_guard<std::mutex> const guard{lock};
    bool const allowed = hedges >= 1;
    hedges -= allowed ? 1 : 0;
    return allowed;
}

ENTITABLE_DECL shared<shard_lane> sharded_state::take_lane() {
    std::lock_guard<std::mutex> const guard{lock};
    if (lanes.empty()) { return shared<shard_lane>::make(*options.time); }
    shared<shard_lane> taken = std::move(lanes.back());
    lanes.pop_back();
    return taken;
}

ENTITABLE_DECL void sharded_state::give_back(shared<shard_lane> lane) {
    std::lock_guard<std::mutex> const guard{lock};
    lanes.push_back(std::move(lane));
}

/// Whether both refuse the same requests.
inline bool have_same_limits(profile const& one, profile const& other) noexcept {
    return one.kind == other.kind && one.max_key_units == other.max_key_units &&
        one.max_properties == other.max_properties && one.max_name_units == other.max_name_units &&
        one.max_string_units == other.max_string_units && one.max_binary_size == other.max_binary_size &&
        one.max_entity_size == other.max_entity_size && one.max_operations == other.max_operations &&
        one.max_transaction_size == other.max_transaction_size && one.max_page_size == other.max_page_size &&
        one.max_comparisons == other.max_comparisons && one.max_filter_size == other.max_filter_size &&
        one.max_partition_key_size == other.max_partition_key_size && one.max_row_key_size == other.max_row_key_size &&
        one.empty_keys == other.empty_keys;
}

/// Sends a request to one shard until a response is valid. `make(sent, way)` fills the store's request; `take(answer, way)` adapts its response.
template <class Request, class Make, class Take>
result<response_of<Request>> ask_shard(sharded_state& state, Request const& request, std::string_view partition_key,
    call& context, Make const& make, Take const& take) {
    // A store with the same limits validates the request, so this is done here only if the request does not come so far.
    bool validated = false;
    auto const failed = [&](auto&& outcome) -> failure {
        if (!validated) {
            if (auto valid = validate(request, state.profile()); !valid) { return failure{valid.error()}; }
        }
        return failure{outcome.error()};
    };
    if (auto may = check_call(context); !may) { return failed(std::move(may)); }
    auto const keys = state.map.state().keys_of(partition_key);
    if (!keys) { return failed(keys); }
    for (;;) {
        auto const way = state.route(*keys, request.table, Request::writes, context);
        if (!way) { return failed(way); }
        auto const store = state.store(way->store(), context);
        if (!store) { return failed(store); }
        Request sent{};
        if (auto made = make(sent, *way); !made) { return failed(std::move(made)); }
        if (!validated) {
            profile const limits = state.profile();
            if (!have_same_limits(store->profile(), limits)) { ENTITABLE_CHECK(validate(request, limits)); }
            validated = true;
        }
        auto answer = store->execute(sent, context);
        bool const lost = !answer && answer.error().effect == effect::unknown;
        if (lost) {
            return answer; // the map cannot help: the outcome is unknown
        }
        bool const missing = !answer && answer.error().code == error_code::table_not_found;
        auto const holds = state.still_holds(*way, *keys, request.table, Request::writes, missing, context);
        if (holds && *holds) {
            if (missing && way->table->whole) { return lost_part(*way->place, *way->table); }
            if (answer) { take(*answer, *way); }
            return answer;
        }
        if (Request::writes && answer) {
            failure moved{error_code::shard_moved,
                text::joined({"the virtual shard ", std::to_string(way->shard()),
                    " moved, or the map could not be read, during a ", Request::name, " request"})};
            moved.error().effect = effect::unknown;
            return moved;
        }
        if (!holds) { return failure{holds.error()}; }
        // A read, or a refusal by a shard that moved, is not conclusive: it is sent again.
    }
}

/// Reads one entity; the visitor of the caller receives a response that is known to be valid.
ENTITABLE_DECL result<void> show_of_shard(sharded_state& state, read_entity const& request, call& context) {
    ENTITABLE_CHECK(validate(request, state.profile()));
    ENTITABLE_CHECK(check_call(context));
    ENTITABLE_TRY(shard_keys const keys, state.map.state().keys_of(request.partition_key));
    for (;;) {
        ENTITABLE_TRY(auto const way, state.route(keys, request.table, false, context));
        ENTITABLE_TRY(auto const store, state.store(way.store(), context));
        result<bool> holds{false};
        bool shown = false;
        auto const visit = [&](row_view const& stored, etag const& version, bool stale) -> result<void> {
            holds = state.still_holds(way, keys, request.table, false, false, context);
            if (!holds || !*holds) { return {}; }
            shown = true;
            row_view each = stored;
            if (version.is_of_timestamp()) {
                char text[longest_etag];
                each.etag_text = write_etag_with_epoch(text, version.timestamp(), way.epoch());
                return (*request.visit)(each, etag_with_epoch(version, way.epoch()), stale);
            }
            etag const own = etag_with_epoch(version, way.epoch());
            std::string const text = own.to_string();
            each.etag_text = text;
            return (*request.visit)(each, own, stale);
        };
        entity_visitor const visitor{visit};
        std::string const table = way.table_name();
        auto answer = store.execute(read_entity{table, request.partition_key, request.row_key, &visitor}, context);
        if (shown) { return answer; }
        bool const missing = !answer && answer.error().code == error_code::table_not_found;
        if (!answer) { holds = state.still_holds(way, keys, request.table, false, missing, context); }
        if (!holds) { return failure{holds.error()}; }
        if (*holds) { return missing && way.table->whole ? lost_part(*way.place, *way.table) : std::move(answer); }
    }
}

inline result<void> take_mutation_of_epoch(mutation& to, mutation const& given, std::int64_t epoch) {
    to.kind = given.kind;
    to.entity = given.entity;
    to.sums = given.sums;
    if (!given.needs_existing() || given.condition.any() || given.condition.version().empty()) {
        to.condition = given.condition;
        return {};
    }
    auto version = etag_of_epoch(given.condition.version(), epoch);
    if (!version) {
        return failure{error_code::update_condition_not_satisfied,
            "ShardMoved: the ETag predates a move of the virtual shard; read again"};
    }
    to.condition = *std::move(version);
    return {};
}

} // namespace detail

ENTITABLE_DECL sharded::sharded(lookup_map map, store_opener open, sharded_options const& options)
    : state_(shared<detail::sharded_state>::make(std::move(map), std::move(open), options)) {}

ENTITABLE_DECL sharded::sharded(hash_stores const& stores, sharded_options const& options)
    : state_(shared<detail::sharded_state>::make(
          stores.map(), [state = stores.state()](std::string_view name) { return state->store(state->place_of(name)); },
          options)) {
    state_->fixed = stores.state();
}

ENTITABLE_DECL entitable::profile sharded::profile() const { return state().profile(); }
ENTITABLE_DECL lookup_map const& sharded::map() const { return state().map; }

ENTITABLE_DECL result<create_table::response> sharded::execute(create_table const& request, call& context) const {
    detail::noted_write const noted{state()};
    return as_operation(request, context, *state().options.time,
        [&] { return detail::create_sharded_table(state(), request, context); });
}
ENTITABLE_DECL result<delete_table::response> sharded::execute(delete_table const& request, call& context) const {
    detail::noted_write const noted{state()};
    return as_operation(request, context, *state().options.time,
        [&] { return detail::delete_sharded_table(state(), request, context); });
}
ENTITABLE_DECL result<list_tables::response> sharded::execute(list_tables const& request, call& context) const {
    return as_operation(request, context, *state().options.time,
        [&] { return detail::list_sharded_tables(state(), request, context); });
}

ENTITABLE_DECL result<get_entity::response> sharded::execute(get_entity const& request, call& context) const {
    return as_operation(request, context, *state().options.time, [&] {
        return detail::ask_shard(
            state(), request, request.partition_key, context,
            [&](get_entity& sent, detail::shard_route const& way) -> result<void> {
                sent = {way.table_name(), request.partition_key, request.row_key, request.select};
                return {};
            },
            [](get_entity::response& found, detail::shard_route const& way) {
                found.etag = detail::etag_with_epoch(found.etag, way.epoch());
                row_view const stored = found.entity.view();
                found.entity = row{stored.partition_key, stored.row_key, stored.payload, found.etag.to_string()};
            });
    });
}

ENTITABLE_DECL result<void> sharded::execute(read_entity const& request, call& context) const {
    return as_operation(
        request, context, *state().options.time, [&] { return detail::show_of_shard(state(), request, context); });
}

ENTITABLE_DECL result<read_entities::response> sharded::execute(read_entities const& request, call& context) const {
    return as_operation(request, context, *state().options.time, [&] {
        if (misses_) {
            return detail::show_page(
                detail::gather_shards(state(), *request.asked, context, misses_.get()), *request.visit);
        }
        return detail::shows_in_turn(state(), request, context) ? detail::show_shards(state(), request, context)
                                                                : detail::show_merged(state(), request, context);
    });
}

ENTITABLE_DECL result<query_entities::response> sharded::execute(query_entities const& request, call& context) const {
    return as_operation(request, context, *state().options.time,
        [&] { return detail::gather_shards(state(), request, context, misses_.get()); });
}

ENTITABLE_DECL result<write_entity::response> sharded::execute(write_entity const& request, call& context) const {
    detail::noted_write const noted{state()};
    return as_operation(request, context, *state().options.time, [&] {
        return detail::ask_shard(
            state(), request, request.change.entity.partition_key(), context,
            [&](write_entity& sent, detail::shard_route const& way) {
                sent.table = way.table_name();
                return detail::take_mutation_of_epoch(sent.change, request.change, way.epoch());
            },
            [](written& done, detail::shard_route const& way) {
                done.etag = detail::etag_with_epoch(done.etag, way.epoch());
            });
    });
}

ENTITABLE_DECL result<transact::response> sharded::execute(transact const& request, call& context) const {
    detail::noted_write const noted{state()};
    return as_operation(request, context, *state().options.time, [&] {
        bool from_before = false; // an ETag is from an earlier epoch
        auto answered = detail::ask_shard(
            state(), request,
            request.changes.empty() ? std::string_view{} : request.changes.front().entity.partition_key(), context,
            [&](transact& sent, detail::shard_route const& way) -> result<void> {
                sent.table = way.table_name();
                sent.changes.reserve(request.changes.size());
                for (mutation const& each : request.changes) {
                    auto taken = detail::take_mutation_of_epoch(sent.changes.emplace_back(), each, way.epoch());
                    if (!taken) {
                        failure at{taken.error()};
                        at.error().operation_index = sent.changes.size() - 1;
                        from_before = true;
                        return at;
                    }
                }
                return {};
            },
            [](transact::response& done, detail::shard_route const& way) {
                for (written& each : done.results) { each.etag = detail::etag_with_epoch(each.etag, way.epoch()); }
            });
        if (from_before && request.changes.front().entity.row_key().starts_with(system_row::operation)) {
            // A store checks the operation row before the ETag, and retries rely on that.
            row_view const operation = request.changes.front().entity;
            auto const met = execute(
                get_entity{request.table, std::string{operation.partition_key}, std::string{operation.row_key}, {}},
                context);
            if (met) {
                failure written{
                    error_code::entity_already_exists, "the operation row exists: it was written before a move"};
                written.error().operation_index = 0;
                return result<transact::response>{std::move(written)};
            }
            if (met.error().code != error_code::resource_not_found) {
                return result<transact::response>{failure{met.error()}};
            }
        }
        return answered;
    });
}

ENTITABLE_DECL result<std::string> sharded::explain(std::string_view table, key_range const& range) const {
    ENTITABLE_TRY(auto const map, state().map_with(table, {}));
    std::vector<std::string> lines;
    std::set<std::string> stores;
    detail::shard_place const* only = nullptr;
    if (range.partition.is_point()) {
        ENTITABLE_TRY(only, state().map.state().place_of(*map, range.partition.lower.key));
    }
    for (detail::shard_place const& each : map->places) {
        if ((only == nullptr || only == &each) && detail::meets_range(each, range)) {
            lines.push_back(text::joined({"  ", each.table_name(*map->find(table)), " in ", each.row.store, "\n"}));
            stores.insert(each.row.store);
        }
    }
    std::string out = text::joined({lines.size() == 1 ? "one shard: " : "fan-out: ", std::to_string(lines.size()),
        " of ", std::to_string(map->places.size()), " tables in ", std::to_string(stores.size()),
        " stores, map version ", std::to_string(map->header.version), "\n"});
    for (std::string const& each : lines) { out += each; }
    return out;
}

ENTITABLE_END_NAMESPACE
