// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The state shared by all handles of a `sharded`: the opened stores, and the routing of requests to shards.

#include <entitable/core/io_driver.hpp>
#include <entitable/core/transport/channel.hpp>
#include <entitable/shards/map/detail/lookup_map_state.hpp>
#include <entitable/shards/map/hash_stores.hpp>
#include <entitable/shards/route/sharded.hpp>

#include <algorithm>
#include <map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Shards that failed in a partial run.
struct shard_misses : counted {
    std::mutex lock;
    std::vector<missing_shard> all;
};

/// Channels to stores, with the driver that waits for them. Used by one thread at a time.
struct shard_lane : counted {
    explicit shard_lane(clock& time) : io(time) {}

    poll_driver io;
    std::map<std::string, shared<channel>, std::less<>> channels; // destroyed before their driver
};

/// The route of a request. Keeps alive the map that it points into.
struct shard_route {
    shard_map_ref map;
    shard_place const* place{};
    shard_table const* table{};

    [[nodiscard]] std::int32_t shard() const noexcept { return place->row.shard; }
    [[nodiscard]] std::int64_t epoch() const noexcept { return place->row.epoch; }
    [[nodiscard]] std::string const& store() const noexcept { return place->row.store; }
    /// Returns the epoch in the table's name.
    [[nodiscard]] std::int64_t table_epoch() const noexcept { return (std::max)(epoch(), table->epoch); }
    [[nodiscard]] std::string table_name() const { return place->table_name(*table); }
    /// Whether a place has the same tables as the route.
    [[nodiscard]] bool leads_to(shard_place const& other) const noexcept {
        return epoch() == other.row.epoch && place->tables_of() == other.tables_of() && store() == other.row.store;
    }
    /// Whether both routes lead to the same keys in the same table.
    [[nodiscard]] bool leads_where(shard_route const& other) const noexcept {
        return place != nullptr && leads_to(*other.place) && table_epoch() == other.table_epoch() &&
            place->row.low == other.place->row.low && place->row.high == other.place->row.high;
    }
};

struct sharded_state : counted {
    sharded_state(lookup_map of, store_opener with, sharded_options const& wishes)
        : map(std::move(of)),
          stores(std::move(with), map.state().options.check_every, *map.state().options.time),
          options(wishes) {}

    /// Returns the state of a handle whose map was moved from.
    [[nodiscard]] static shared<sharded_state> make_absent();

    lookup_map map;
    watched_stores stores;
    sharded_options options;
    shared<hash_stores_state> fixed; ///< null if there is a map
    std::mutex lock;
    std::optional<entitable::profile> limits;
    std::vector<shared<shard_lane>> lanes; ///< idle lanes
    double hedges{1};                      ///< the hedged requests allowed now
    shard_map_ref judged;                  ///< the map that `in_turn` is known for
    bool in_turn{};                        ///< see `answers_in_turn`

    /// Opens a store and checks that it is the one named by the map or the list of stores; otherwise WrongStore. Checks before the first
    /// use, then periodically.
    [[nodiscard]] result<any_store> store(std::string_view name, call const& context = {});
    /// Opens several stores, and runs the checks that are due concurrently.
    [[nodiscard]] std::vector<result<any_store>> stores_of(
        std::vector<std::string_view> const& names, call const& context);
    /// Checks that the rows of a store allow its use under this name.
    [[nodiscard]] result<void> judge(std::string_view name, result<query_entities::response> const& found);
    [[nodiscard]] entitable::profile profile();
    /// Returns a valid copy that contains this table; otherwise TableNotFound.
    [[nodiscard]] result<shard_map_ref> map_with(std::string_view table, call const& context);
    /// Returns the route to the shard of these keys, or to the shard of the first key, if its state allows the
    /// operation: ShardMoving, MapUnavailable, TableNotFound.
    [[nodiscard]] result<shard_route> route(
        shard_keys const& keys, std::string_view table, bool writes, call const& context);
    /// Whether a response received over this route for these keys is valid now. False if any of the keys moved.
    [[nodiscard]] result<bool> still_holds(shard_route const& way, shard_keys const& keys, std::string_view table,
        bool writes, bool table_missing, call const& context);
    /// Whether a response received over this route for these keys is valid now, judged by the leases alone: sends nothing.
    [[nodiscard]] bool holds_by_lease(shard_route const& way, shard_keys const& keys, bool writes);
    /// Whether all stores of the map respond one request after the other: none has a channel of its own, so a fan-out saves no time.
    [[nodiscard]] bool answers_in_turn(shard_map_ref const& of, call const& context);
    /// Adds the hedging allowance of `pages` pages.
    void save_hedges(std::size_t pages);
    /// Whether one page may be hedged; uses up its allowance.
    [[nodiscard]] bool take_hedge();
    [[nodiscard]] shared<shard_lane> take_lane();
    void give_back(shared<shard_lane> lane);
};

/// Clients of `sharded` see a Timestamp's ETag as `W/"s<epoch>t<ticks>"`, 16 hexadecimal digits. Returns the start, which all ETags of an
/// epoch share.
[[nodiscard]] std::string start_of_etags(std::int64_t epoch);
/// Bytes of the rest of such an ETag: 16 digits and a quotation mark.
inline constexpr std::size_t rest_of_etag = 17;
/// Appends the rest of such an ETag.
void append_end_of_etag(std::string& to, date_time timestamp);
/// Bytes of the longest such ETag.
inline constexpr std::size_t longest_etag = 48;
/// Writes such an ETag, and returns it.
std::string_view write_etag_with_epoch(char (&to)[longest_etag], date_time timestamp, std::int64_t epoch) noexcept;
/// Returns an ETag in the form that clients of `sharded` see.
[[nodiscard]] etag etag_with_epoch(etag const& stored, std::int64_t epoch);
/// Returns the store's ETag; nullopt if the ETag is from a different epoch.
[[nodiscard]] std::optional<etag> etag_of_epoch(etag const& shown, std::int64_t epoch);

/// Reads one entity of one shard.
[[nodiscard]] result<void> show_of_shard(sharded_state& state, read_entity const& request, call& context);
/// Whether `show_shards` can answer: the rows need no order or are in order shard after shard, and a fan-out would save no time.
[[nodiscard]] bool shows_in_turn(sharded_state& state, read_entities const& request, call const& context);
/// Shows one page of a query, shard after shard, while the stores are being read.
[[nodiscard]] result<read_entities::response> show_shards(
    sharded_state& state, read_entities const& request, call& context);
/// Shows one page of a query over several shards, merged in key order.
[[nodiscard]] result<read_entities::response> show_merged(
    sharded_state& state, read_entities const& request, call& context);
/// Collects such a page.
[[nodiscard]] result<query_entities::response> page_in_turn(
    sharded_state& state, query_entities const& request, call& context);
/// Reads one page of a query over one or several partitions.
[[nodiscard]] result<query_entities::response> gather_shards(
    sharded_state& state, query_entities const& request, call& context, shard_misses* misses);

} // namespace detail
ENTITABLE_END_NAMESPACE
