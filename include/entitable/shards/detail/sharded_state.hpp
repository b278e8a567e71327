// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What all handles of a `sharded` share: the stores that were opened, and how a request finds its shard.

#include <entitable/core/io_driver.hpp>
#include <entitable/shards/detail/hash_stores_state.hpp>
#include <entitable/shards/detail/lookup_map_state.hpp>
#include <entitable/shards/sharded.hpp>
#include <entitable/transport/channel.hpp>

#include <algorithm>
#include <map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Shards that failed in a partial run.
struct shard_misses : counted {
    std::mutex lock;
    std::vector<missing_shard> all;
};

/// Channels to stores, with the driver that waits for them. One thread at a time.
struct shard_lane : counted {
    explicit shard_lane(clock& time) : io(time) {}

    poll_driver io;
    std::map<std::string, shared<channel>, std::less<>> channels; // destroyed before their driver
};

/// Where a request goes. Its map outlives what it points at.
struct shard_route {
    shard_map_ref map;
    shard_place const* place{};
    shard_table const* table{};

    [[nodiscard]] std::int32_t shard() const noexcept { return place->row.shard; }
    [[nodiscard]] std::int64_t epoch() const noexcept { return place->row.epoch; }
    [[nodiscard]] std::string const& store() const noexcept { return place->row.store; }
    /// In the name of its table.
    [[nodiscard]] std::int64_t table_epoch() const noexcept { return (std::max)(epoch(), table->epoch); }
    [[nodiscard]] std::string table_name() const { return place->table_name(*table); }
    /// Whether a place has the same tables.
    [[nodiscard]] bool leads_to(shard_place const& other) const noexcept {
        return epoch() == other.row.epoch && place->tables_of() == other.tables_of() && store() == other.row.store;
    }
    /// Whether both ask the same keys of the same table.
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

    /// One whose map was moved from.
    [[nodiscard]] static shared<sharded_state> make_absent();

    lookup_map map;
    watched_stores stores;
    sharded_options options;
    shared<hash_stores_state> fixed; ///< null where there is a map
    std::mutex lock;
    std::optional<entitable::profile> limits;
    std::vector<shared<shard_lane>> lanes; ///< that nobody uses
    double hedges{1};                      ///< that may be sent now

    /// A store that is the one which the map, or the list of stores, says: WrongStore. It is looked at before its first use, and again every so often.
    [[nodiscard]] result<any_transport> store(std::string_view name, call const& context = {});
    /// The same, and stores that are to be looked at are, all at once.
    [[nodiscard]] std::vector<result<any_transport>> stores_of(
        std::vector<std::string_view> const& names, call const& context);
    /// Whether the rows of a store let it be used under this name.
    [[nodiscard]] result<void> judge(std::string_view name, result<query_entities::response> const& found);
    [[nodiscard]] entitable::profile profile();
    /// A good copy that has this table; TableNotFound.
    [[nodiscard]] result<shard_map_ref> map_with(std::string_view table, call const& context);
    /// The way to the shard of these keys, or of the first of them, whose state allows the operation: ShardMoving, MapUnavailable, TableNotFound.
    [[nodiscard]] result<shard_route> route(
        shard_keys const& keys, std::string_view table, bool writes, call const& context);
    /// Whether what came over this way for these keys counts now. False: they moved, or some of them.
    [[nodiscard]] result<bool> still_holds(shard_route const& way, shard_keys const& keys, std::string_view table,
        bool writes, bool table_missing, call const& context);
    /// So many pages are asked for: the share of them may be asked for again.
    void save_hedges(std::size_t pages);
    /// Whether one page may be asked for again; takes it from what was saved.
    [[nodiscard]] bool take_hedge();
    [[nodiscard]] shared<shard_lane> take_lane();
    void give_back(shared<shard_lane> lane);
};

/// The ETag of a Timestamp as the clients of `sharded` see it is `W/"s<epoch>t<ticks>"`, 16 hexadecimal digits: what those of an epoch begin with,
[[nodiscard]] std::string start_of_etags(std::int64_t epoch);
/// and the rest of one.
void append_end_of_etag(std::string& to, date_time timestamp);
/// An ETag as the clients of `sharded` see it.
[[nodiscard]] etag etag_with_epoch(etag const& stored, std::int64_t epoch);
/// The ETag of the store; nothing where it is of another epoch.
[[nodiscard]] std::optional<etag> etag_of_epoch(etag const& shown, std::int64_t epoch);

/// One page of a query over several partitions, or of one.
[[nodiscard]] result<query_entities::response> gather_shards(
    sharded_state& state, query_entities const& request, call& context, shard_misses* misses);

} // namespace detail
ENTITABLE_END_NAMESPACE
