// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `sharded`: one logical table over several stores, as a transport.
///
///     auto map = lookup_map::open(catalogue, "shardmap", virtual_shards{48}).value();
///     sharded cloud{map, [](std::string_view store) -> result<any_store> { return open_store(store); }};
///     table<book> books{cloud, "books"};

#include <entitable/shards/map/shard_map.hpp>
#include <entitable/shards/map/store_opener.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A second request for a late page of a query. The second request is sent to the same store, because a different store may be stale. The
/// first response is used; the other request is cancelled. Writes, `get_entity`, and requests to stores that serve one
/// request at a time, such as files and memory, are not hedged.
struct hedged_reads {
    std::chrono::nanoseconds after{}; ///< when a page counts as late: preferably the 95th percentile of page latency
    double share{0.05}; ///< the share of pages that may be hedged, 0 to 1; unused allowance accumulates, up to 10 pages
};

/// Options of `sharded`.
struct sharded_options {
    std::size_t in_flight{virtual_shards::most}; ///< virtual shards that one query reads concurrently; at least one
    std::optional<entitable::profile>
        limits;                   ///< limits for all stores; by default the limits that every store of the map allows
    clock* time{&system_clock()}; ///< clock for the waits of fan-outs; must outlive the transport
    std::optional<hedged_reads> hedge{}; ///< hedging of page reads; none by default
};

/// A part missing from a partial result.
struct missing_shard {
    std::int32_t shard{}; ///< the virtual shard
    std::string low;      ///< the first partition key of its range; empty if a function assigns the shards
    std::string high;     ///< the end of its range, exclusive; empty for no end
    std::string table;    ///< the logical table
    std::string store;    ///< the shard's store
    std::optional<std::pair<std::string, std::string>>
        after;              ///< the rows after this partition key and row key are missing; empty for all rows
    entitable::error error; ///< the error from the store
};

namespace detail {

struct sharded_state;
struct shard_misses;
/// Returns the state of a `sharded` that was moved from: every request returns InvalidInput.
[[nodiscard]] sharded_state& absent_sharded_state();

} // namespace detail

class hash_stores;

/// One logical table over many stores. It is used below `table<E>`, so code above is unchanged. A cheap handle; copies
/// share all state.
///
/// Thread safety: safe to use from several threads.
///
/// - Requests for one partition go to the store of its virtual shard. A response is valid if the copy of the map that the request was sent
///   under is still valid, or if a later read of the map gives the same place. Otherwise a read is repeated, and a write returns
///   ShardMoved with unknown effect, which `retrying` settles by its operation row.
/// - ETags contain the epoch of the shard. An ETag from before a move is refused with UpdateConditionNotSatisfied before the write is sent,
///   even if the entity was removed. For a write with an operation row, that row is looked up first, because the write may have been
///   applied before the move.
/// - A page of one partition is one page of its store, so it may be as small as the store makes it.
/// - Queries over several partitions read all virtual shards that can hold rows concurrently, and return rows in key
///   order. A continuation token is the last key, so it remains valid after a move. A page contains at least half of
///   the requested rows, unless it is the last page.
/// - Counts and folds of fields need no order: over stores that respond one request after the other they read the shards in turn, and make
///   no pages. The sum of a member of type double then depends on that order in its last digits.
/// - A table is one table for each virtual shard. Creating and dropping it is refused with ShardMoving while a shard moves. If a part
///   existed once and is missing, requests and the creation of the table return WrongStore: `repair_tables` creates the part.
/// - A store is checked before its first use and every `lookup_map_options::check_every` from then on. If it lacks the
///   identity of the map, or contains the identity of another store of the map, the error is WrongStore; the effect is
///   none. Maps without an identity are not checked: see `adopt`.
/// - The error of a query over several partitions names the shard that failed. `partial` returns the rows of the other shards.
class sharded {
public:
    using is_transport = void;       ///< opts in to `transport`
    using visits_entities = sharded; ///< opts in to `read_entity`
    using visits_pages = sharded;    ///< opts in to `read_entities`

    /// Sends nothing yet.
    sharded(lookup_map map, store_opener open, sharded_options const& options = {});
    /// Uses stores without a map.
    explicit sharded(hash_stores const& stores, sharded_options const& options = {});

    /// Returns the limits that every store of the map allows; the limits of Azure Table Storage while the map cannot be read.
    [[nodiscard]] entitable::profile profile() const;

    /// Creates the table in every virtual shard, including parts that an earlier attempt did not create, but not parts that existed
    /// once and are missing now.
    [[nodiscard]] result<create_table::response> execute(create_table const& request, call& context) const;
    /// Drops the table in every virtual shard.
    [[nodiscard]] result<delete_table::response> execute(delete_table const& request, call& context) const;
    /// Lists the logical tables, from the map.
    [[nodiscard]] result<list_tables::response> execute(list_tables const& request, call& context) const;
    /// Reads from one partition.
    [[nodiscard]] result<get_entity::response> execute(get_entity const& request, call& context) const;
    /// Reads from one partition, and passes the row on without a copy.
    [[nodiscard]] result<void> execute(read_entity const& request, call& context) const;
    /// Shows the rows of one partition; of several partitions too, shard after shard, if the order of the rows is that of the shards or
    /// does not matter (`read_entities::any_order`) and the stores respond one request after the other, as files and memory do. Otherwise
    /// the shards are read concurrently, as by `query_entities`.
    [[nodiscard]] result<read_entities::response> execute(read_entities const& request, call& context) const;
    /// Reads one partition, or several in key order.
    [[nodiscard]] result<query_entities::response> execute(query_entities const& request, call& context) const;
    /// Writes to one partition.
    [[nodiscard]] result<write_entity::response> execute(write_entity const& request, call& context) const;
    /// Writes to one partition.
    [[nodiscard]] result<transact::response> execute(transact const& request, call& context) const;

    /// Names the tables and stores that a query of this range reads, as readable text.
    [[nodiscard]] result<std::string> explain(std::string_view table, key_range const& range = {}) const;

    /// Returns the map; for hashed stores, an equivalent map.
    [[nodiscard]] lookup_map const& map() const;
    /// Used by the layers above.
    [[nodiscard]] detail::sharded_state& state() const { return state_ ? *state_ : detail::absent_sharded_state(); }
    /// Returns the same stores, with shards that fail noted in `misses` instead of reported as an error. Used by
    /// `partial`.
    [[nodiscard]] sharded collecting_misses(shared<detail::shard_misses> misses) const {
        sharded made{*this};
        made.misses_ = std::move(misses);
        return made;
    }

private:
    shared<detail::sharded_state> state_;
    shared<detail::shard_misses> misses_;
};

ENTITABLE_END_NAMESPACE

#include <entitable/shards/route/detail/sharded_state.hpp>

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/route/impl/hashed_tables.ipp>
#include <entitable/shards/route/impl/shard_etags.ipp>
#include <entitable/shards/route/impl/shard_gather.ipp>
#include <entitable/shards/route/impl/shard_hedge.ipp>
#include <entitable/shards/route/impl/shard_routes.ipp>
#include <entitable/shards/route/impl/shard_showing.ipp>
#include <entitable/shards/route/impl/shard_tables.ipp>
#include <entitable/shards/route/impl/sharded.ipp>
#endif
