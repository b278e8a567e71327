// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `sharded`: one logical table over several stores, as a transport.
///
///     auto map = lookup_map::open(catalogue, "shardmap", virtual_shards{48}).value();
///     sharded cloud{map, [](std::string_view store) -> result<any_transport> { return open_store(store); }};
///     table<book> books{cloud, "books"};

#include <entitable/shards/shard_map.hpp>
#include <entitable/shards/store_opener.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A second request for a page of a query that is late. It goes to the same store, since another one may be stale. The first answer counts; the other
/// request is cancelled. Writes and `get_entity` are not hedged, nor are stores that answer one request after the other, as files and memory do.
struct hedged_reads {
    std::chrono::nanoseconds after{}; ///< when a page counts as late: best the time within which 95 of 100 pages come
    double share{0.05}; ///< of all pages that may be asked for twice, 0 to 1; what is not used is saved up, to 10 pages
};

/// How a `sharded` asks.
struct sharded_options {
    std::size_t in_flight{virtual_shards::most}; ///< virtual shards that one query asks at once; one at least
    std::optional<entitable::profile>
        limits;                          ///< that hold for all stores; by default what every store of the map allows
    clock* time{&system_clock()};        ///< by which fan-outs wait; outlives the transport
    std::optional<hedged_reads> hedge{}; ///< by default nothing is asked for twice
};

/// A part that a partial answer lacks.
struct missing_shard {
    std::int32_t shard{}; ///< the virtual shard
    std::string low;      ///< the first partition key of its range; empty where a function decides
    std::string high;     ///< behind the last one; empty for no end
    std::string table;    ///< the logical table
    std::string store;    ///< where the shard is
    std::optional<std::pair<std::string, std::string>>
        after; ///< the rows behind this partition key and row key are missing; nothing for all rows
    error why; ///< what the store answered
};

namespace detail {

struct sharded_state;
struct shard_misses;
/// Stands for the state of a `sharded` that was moved from: every request is InvalidInput.
[[nodiscard]] sharded_state& absent_sharded_state();

} // namespace detail

class hash_stores;

/// One logical table over many stores. It stands below `table<E>`, so everything above is unchanged. A cheap handle; copies share everything.
///
/// Thread safety: safe to use from several threads.
///
/// - Requests for one partition go to the store of its virtual shard. An answer counts if the copy of the map that the request was sent under is
///   still valid, or if a map read afterwards says the same. Otherwise a read is repeated, and a write is ShardMoved of unknown effect, which
///   `retrying` settles by its operation row.
/// - ETags carry the epoch of the shard. One from before a move is refused with UpdateConditionNotSatisfied before the write is sent, even where
///   the entity is gone. A write with an operation row is looked up first, because it may have been applied before the move.
/// - A page of one partition is one page of its store, so it may be as small as the store makes it.
/// - Queries over several partitions ask all virtual shards that can hold rows at once, and give rows in key order. A continuation is the last
///   key, so it survives moves. A page has at least half of the rows asked for, unless it is the last one.
/// - A table is one table for each virtual shard. Creating and dropping it is refused with ShardMoving while a shard moves. A part that was there once and is
///   missing is WrongStore, for requests and for creating the table: `repair_tables` makes it.
/// - A store is looked at before its first use and every `lookup_map_options::check_every` from then on: one that has not the identity of the map, or that of another
///   store of it, is WrongStore; effect none. Maps without an identity have no such check: see `adopt`.
/// - The error of a query over several partitions names the shard that failed. `partial` gives what the other shards have.
class sharded {
public:
    using is_transport = void; ///< opts in to `transport`

    /// Sends nothing yet.
    sharded(lookup_map map, store_opener open, sharded_options const& options = {});
    /// Over stores without a map.
    explicit sharded(hash_stores const& stores, sharded_options const& options = {});

    /// What every store of the map allows; that of Azure Table Storage while the map cannot be read.
    [[nodiscard]] entitable::profile profile() const;

    /// Creates the table in every virtual shard, also where an earlier attempt has left some out; but none that it had once.
    [[nodiscard]] result<create_table::response> execute(create_table const& request, call& context) const;
    /// Drops the table in every virtual shard.
    [[nodiscard]] result<delete_table::response> execute(delete_table const& request, call& context) const;
    /// Lists the logical tables, from the map.
    [[nodiscard]] result<list_tables::response> execute(list_tables const& request, call& context) const;
    /// Of one partition.
    [[nodiscard]] result<get_entity::response> execute(get_entity const& request, call& context) const;
    /// Of one partition, or of many in key order.
    [[nodiscard]] result<query_entities::response> execute(query_entities const& request, call& context) const;
    /// Of one partition.
    [[nodiscard]] result<write_entity::response> execute(write_entity const& request, call& context) const;
    /// Of one partition.
    [[nodiscard]] result<transact::response> execute(transact const& request, call& context) const;

    /// Names the tables and stores that a query of this range asks, for people.
    [[nodiscard]] result<std::string> explain(std::string_view table, key_range const& range = {}) const;

    /// The map; for stores on a hash, the map that they amount to.
    [[nodiscard]] lookup_map const& map() const;
    /// For the rooms above.
    [[nodiscard]] detail::sharded_state& state() const { return state_ ? *state_ : detail::absent_sharded_state(); }
    /// The same stores, with shards that fail noted in `misses` instead of reported as an error. For `partial`.
    [[nodiscard]] sharded noting(shared<detail::shard_misses> misses) const {
        sharded made{*this};
        made.misses_ = std::move(misses);
        return made;
    }

private:
    shared<detail::sharded_state> state_;
    shared<detail::shard_misses> misses_;
};

ENTITABLE_END_NAMESPACE

#include <entitable/shards/detail/sharded_state.hpp>

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/impl/hashed_tables.ipp>
#include <entitable/shards/impl/shard_etags.ipp>
#include <entitable/shards/impl/shard_gather.ipp>
#include <entitable/shards/impl/shard_hedge.ipp>
#include <entitable/shards/impl/shard_routes.ipp>
#include <entitable/shards/impl/shard_tables.ipp>
#include <entitable/shards/impl/sharded.ipp>
#endif
