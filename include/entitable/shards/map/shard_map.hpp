// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `lookup_map`: a table of typed entities that records the store of each virtual shard, and the client's copy of that
/// table, valid for a lease.

#include <entitable/client/mapping/macro.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/request/key_range.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/shards/map/store_opener.hpp>
#include <entitable/shards/map/virtual_shards.hpp>

#include <algorithm>
#include <chrono>
#include <deque>

ENTITABLE_BEGIN_NAMESPACE

/// The header of a map, as stored. Format: docs/stored_formats.md.
struct shard_map_header {
    std::string map{"map"};      ///< the partition of all rows of a map
    std::string part{"header"};  ///< the row
    std::string strategy;        ///< "function" or "ranges"
    std::int32_t hash_version{}; ///< version of `shard_hash`
    std::int64_t fingerprint{};  ///< fingerprint of the function, or of the original ranges
    std::int32_t
        number{}; ///< number of virtual shards; with ranges, the number of the next new shard, so merged shards count
    std::int64_t version{};    ///< incremented by each change of the map
    std::int64_t next_epoch{}; ///< the next epoch that no table name contains
    /// "books:3+;orders:9": each with the epoch of its creation; "+" marks a table that has all of its parts, "-" a table that is
    /// being dropped
    std::string tables;
    std::string nonce;                ///< nonce of the last change
    std::optional<std::string> state; ///< "making"; empty for a complete map
};
ENTITABLE(shard_map_header, partition_key(map), row_key(part),
    properties(strategy, hash_version, fingerprint, number, version, next_epoch, tables, nonce, state))

/// The identity of a map, as stored. Each of the map's stores contains it as well, so that a store that was emptied or
/// belongs to another map is detected. It is a separate row, which older programs leave unchanged. Format:
/// docs/stored_formats.md.
struct shard_map_identity {
    std::string map{"map"};           ///< the partition of all rows of a map
    std::string part{"identity"};     ///< the row
    std::string identity;             ///< random, generated when the map was made or adopted
    std::optional<std::string> state; ///< "adopting" while stores are marked; empty afterwards
};
ENTITABLE(shard_map_identity, partition_key(map), row_key(part), properties(identity, state))

/// A store that is known to contain the map's identity, as listed in the map. It is an error if the identity is missing
/// later. Format: docs/stored_formats.md.
struct shard_map_store {
    std::string map{"map"}; ///< the partition of all rows of a map
    std::string store;      ///< its name
    date_time marked;       ///< when the store was known to have the identity
};
ENTITABLE(shard_map_store, partition_key(map), row_key(literal("store"), store), properties(marked))

/// A virtual shard of a map, as stored. Format: docs/stored_formats.md.
struct shard_map_row {
    std::string map{"map"};                ///< the partition of all rows of a map
    std::int32_t shard{};                  ///< its number
    std::optional<std::int32_t> tables_of; ///< the number in the names of its tables; empty for the shard's own number
    std::string low;                       ///< the first partition key, if ranges assign the shards
    std::string high;                      ///< the end of the partition keys, exclusive; empty for no end
    std::string state;                     ///< "open", "closing", "draining", "sealed"
    std::string store;                     ///< the store of its tables
    std::int64_t epoch{};                  ///< epoch in the names of its tables
    std::int64_t lease_ms{};               ///< how long a client's copy of this row is valid, in ms
    std::int64_t open_lease_ms{};          ///< value of `lease_ms` while the shard is not being moved
    std::string attempt_owner;    ///< the process that is moving the shard; empty if the shard is not being moved
    std::string attempt_store;    ///< the store that the shard is being moved to
    std::int64_t attempt_epoch{}; ///< epoch in the names of the new tables
    std::optional<std::int32_t> attempt_with; ///< the adjacent shard that moves into the same tables
    std::string retired; ///< "store:epoch:until;...": tables to be dropped; ":shard" follows if the number differs
    std::string reason;  ///< why the shard is offline or read-only, as readable text
    date_time until;     ///< when this state is expected to end; the year 1601 if unknown
    std::string nonce;   ///< nonce of the last change
};
ENTITABLE(shard_map_row, partition_key(map), row_key(literal("shard"), width(shard, 4)),
    properties(low, high, tables_of, state, store, epoch, lease_ms, open_lease_ms, attempt_owner, attempt_store, attempt_epoch, attempt_with, retired, reason, until, nonce))

namespace detail {

/// A logical table in the header of a map.
struct shard_table {
    std::string name;     ///< name passed to the creation
    std::int64_t epoch{}; ///< epoch of its creation
    bool dropping{};
    bool whole{}; ///< whether all of its parts have existed, so that a missing part was lost
};
/// Tables that are no longer used.
struct shard_retired {
    std::string store;
    std::int64_t epoch{};
    std::int64_t until{}; ///< tables of this epoch or later are not included
    std::int32_t shard{}; ///< shard number in the table names

    friend bool operator==(shard_retired const&, shard_retired const&) = default;
};
/// A row of a map, as read.
struct shard_place {
    shard_map_row row;
    etag version;
    std::vector<shard_retired> retired;

    [[nodiscard]] bool allows(bool writes) const noexcept {
        return row.state == "open" || row.state == "closing" || (row.state == "draining" && !writes);
    }
    /// Returns the number in the names of its tables.
    [[nodiscard]] std::int32_t tables_of() const noexcept { return row.tables_of.value_or(row.shard); }
    [[nodiscard]] std::string table_name(shard_table const& table) const; ///< returns the name of a table in its store
    /// Whether its table has this number and epoch, in the same store.
    [[nodiscard]] bool has(
        shard_table const& table, std::string_view store, std::int32_t number, std::int64_t epoch) const noexcept;
    [[nodiscard]] key_interval keys() const; ///< the range, if ranges assign the shards; otherwise all keys
};
/// A map, as read, checked to cover every key.
struct shard_map_copy : counted {
    shard_map_header header;
    etag version;
    std::vector<shard_place> places; ///< sorted by number, without gaps; ranges are sorted by key, with any numbers
    std::vector<shard_table> tables;
    std::string identity;            ///< empty for a map without an identity, or a map being adopted
    std::vector<std::string> stores; ///< the stores that have the identity, sorted
    steady_time asked_at{};          ///< before the read was sent
    bool by_ranges{};

    /// Whether this row is valid at this time.
    [[nodiscard]] bool good(shard_place const& place, steady_time now) const noexcept {
        return now < asked_at + std::chrono::milliseconds{place.row.lease_ms};
    }
    [[nodiscard]] shard_table const* find(std::string_view table) const;
    /// Whether a store is known to have the identity of the map.
    [[nodiscard]] bool lists(std::string_view store) const noexcept {
        return std::find(stores.begin(), stores.end(), store) != stores.end();
    }
    /// Returns the place of a virtual shard; null if it does not exist.
    [[nodiscard]] shard_place const* find_shard(std::int32_t shard) const noexcept {
        if (by_ranges) { return find_range(shard); }
        return shard >= 0 && static_cast<std::size_t>(shard) < places.size() ? &places[static_cast<std::size_t>(shard)]
                                                                             : nullptr;
    }
    /// Returns the range that contains a partition key; only if ranges assign the shards.
    [[nodiscard]] shard_place const& range_of(std::string_view partition_key) const noexcept;

private:
    [[nodiscard]] shard_place const* find_range(std::int32_t shard) const noexcept;
};
using shard_map_ref = shared<shard_map_copy>;

/// Returns the name of a logical table in a virtual shard: it is never used twice and has at most 63 characters.
[[nodiscard]] std::string shard_table_name(std::string_view table, std::int32_t shard, std::int64_t epoch);

/// Whether this is a valid name of a store.
[[nodiscard]] bool is_store_name(std::string_view name) noexcept;

struct lookup_map_state;
struct sharded_state;
/// Returns the state of a map that was moved from: every request returns InvalidInput.
[[nodiscard]] lookup_map_state& absent_map_state();

/// A draft of a row of a map.
struct shard_row_draft {
    shard_map_row row;
    std::vector<shard_retired> retired;
    etag version; ///< ETag of the changed row; empty for a new row
    bool erased{};
};
/// A draft of a map.
struct shard_map_draft {
    shard_map_header header;
    std::vector<shard_table> tables;
    std::deque<shard_row_draft> rows; ///< the rows requested by `edit`
    std::vector<mutation> others;     ///< other changes of the same partition, in the same transaction

    /// Returns the draft of a row of the map; null if there is none.
    [[nodiscard]] shard_row_draft* edit(shard_map_copy const& map, std::int32_t shard);
};

/// A clock for leases, which also runs while the machine sleeps.
[[nodiscard]] clock& lease_clock() noexcept;

} // namespace detail

/// Options of a map.
struct lookup_map_options {
    std::chrono::milliseconds lease{std::chrono::seconds{60}}; ///< lease of the rows of a new map
    clock* time{&detail::lease_clock()};                       ///< used for the leases; must outlive the map
    std::chrono::milliseconds check_every{
        std::chrono::seconds{60}}; ///< how often the identity of a store in use is read
};

/// A map in its own table. A cheap handle; copies share the client's copy of the map. Clients only read the table. A row of the copy is
/// valid for the row's lease, counted from before the read was sent. The first call after a third of the lease renews the copy, one caller
/// at a time. So a client that sends requests continuously does not notice a map that is unavailable for less than two thirds of the lease.
///
/// A map that was moved from returns InvalidInput.
///
/// Thread safety: safe to use from several threads. Callers without a valid copy block until one of them has read the map: see
/// `on_own_stack` for a catalogue that is a `loop_transport`.
class lookup_map {
public:
    /// Opens a map without repairing anything. A map of ranges stores the ranges in its rows:
    /// `virtual_shards::ranges()` opens it, whatever its bounds were when it was made.
    ///
    /// Errors: InvalidInput if the map was made for a different number of shards or a different function;
    /// ShardMapInvalid if the table's map is missing, malformed or incomplete; MapUnavailable if the map cannot be read
    /// or does not exist.
    [[nodiscard]] static result<lookup_map> open(
        any_store catalogue, std::string table, virtual_shards shards, lookup_map_options const& options = {});
    /// Makes a map and its table, writes its identity to every store, and opens the map. Virtual shard i goes to `stores[i %
    /// stores.size()]`. The name of a store has up to 63 letters, digits, "-", "_" and ".". After an error, the same call resumes, even
    /// with different stores or shards.
    ///
    /// Errors: AlreadyMade if a map exists: open it; WrongStore if a store belongs to another map or is part of hashed
    /// stores; InvalidInput for an empty list of stores, or an invalid name; those of `open`; those of the catalogue
    /// and the stores.
    [[nodiscard]] static result<lookup_map> make(any_store catalogue, std::string table, virtual_shards shards,
        std::vector<std::string> const& stores, store_opener const& open_store, lookup_map_options const& options = {});

    /// Returns the current map as text, one line per virtual shard.
    [[nodiscard]] result<std::string> to_string() const;

    /// Used by `sharded` and moves.
    [[nodiscard]] detail::lookup_map_state& state() const { return state_ ? *state_ : detail::absent_map_state(); }

private:
    friend detail::sharded_state; // makes a handle without a state
    explicit lookup_map(shared<detail::lookup_map_state> state) : state_(std::move(state)) {}

    shared<detail::lookup_map_state> state_;
};

ENTITABLE_END_NAMESPACE

#include <entitable/shards/map/detail/lookup_map_state.hpp>

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/map/impl/lookup_map_state.ipp>
#include <entitable/shards/map/impl/shard_map.ipp>
#include <entitable/shards/map/impl/shard_map_change.ipp>
#include <entitable/shards/map/impl/shard_map_making.ipp>
#endif
