// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `lookup_map`: a table of typed entities that says which store holds each virtual shard, and the copy of it that a client holds under a lease.

#include <entitable/core/clock.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/mapping/macro.hpp>
#include <entitable/request/key_range.hpp>
#include <entitable/shards/store_opener.hpp>
#include <entitable/shards/virtual_shards.hpp>
#include <entitable/transport/any_transport.hpp>

#include <algorithm>
#include <chrono>
#include <deque>

ENTITABLE_BEGIN_NAMESPACE

/// The header of a map, as it is stored. Format: docs/stored_formats.md.
struct shard_map_header {
    std::string map{"map"};      ///< the partition of all rows of a map
    std::string part{"header"};  ///< the row
    std::string strategy;        ///< "function" or "ranges"
    std::int32_t hash_version{}; ///< of `shard_hash`
    std::int64_t fingerprint{};  ///< of the function, or of the ranges that the map was made with
    std::int32_t number{};       ///< of virtual shards; for ranges the number of the next new one, so merged ones count
    std::int64_t version{};      ///< goes up with each change of the map
    std::int64_t next_epoch{};   ///< the next number that no table has in its name
    /// "books:3+;orders:9": each with the epoch it was made at; "+" behind one that has all of its parts, "-" behind one that is being dropped
    std::string tables;
    std::string nonce;                ///< of the last change
    std::optional<std::string> state; ///< "making"; nothing for a map that is made
};
ENTITABLE(shard_map_header, partition_key(map), row_key(part),
    properties(strategy, hash_version, fingerprint, number, version, next_epoch, tables, nonce, state))

/// The identity of a map, as it is stored: each of its stores has it as well, so that a store that was emptied, or belongs to another map, is
/// told apart. A row of its own, which programs of before leave as it is. Format: docs/stored_formats.md.
struct shard_map_identity {
    std::string map{"map"};           ///< the partition of all rows of a map
    std::string part{"identity"};     ///< the row
    std::string identity;             ///< drawn at random when the map was made, or adopted
    std::optional<std::string> state; ///< "adopting" while stores are marked; nothing from then on
};
ENTITABLE(shard_map_identity, partition_key(map), row_key(part), properties(identity, state))

/// A store that has the identity of the map, as it is stored in the map: from then on it is an error if it has not. Format:
/// docs/stored_formats.md.
struct shard_map_store {
    std::string map{"map"}; ///< the partition of all rows of a map
    std::string store;      ///< its name
    date_time marked;       ///< when that was seen
};
ENTITABLE(shard_map_store, partition_key(map), row_key(literal("store"), store), properties(marked))

/// A virtual shard of a map, as it is stored. Format: docs/stored_formats.md.
struct shard_map_row {
    std::string map{"map"};                   ///< the partition of all rows of a map
    std::int32_t shard{};                     ///< its number
    std::optional<std::int32_t> tables_of;    ///< the number in the names of its tables; nothing for its own
    std::string low;                          ///< the first partition key, where ranges decide
    std::string high;                         ///< behind the last partition key; empty for no end
    std::string state;                        ///< "open", "closing", "draining", "sealed"
    std::string store;                        ///< where its tables are
    std::int64_t epoch{};                     ///< in the names of its tables
    std::int64_t lease_ms{};                  ///< how long a client's copy of this row is valid, in ms
    std::int64_t open_lease_ms{};             ///< `lease_ms` while nobody moves the shard, in ms
    std::string attempt_owner;                ///< of the process that moves it; empty for none
    std::string attempt_store;                ///< the store that it moves to
    std::int64_t attempt_epoch{};             ///< in the names of the new tables
    std::optional<std::int32_t> attempt_with; ///< the shard beside it that goes into the same tables
    std::string retired; ///< "store:epoch:until;...": tables to be dropped; ":shard" behind those of another number
    std::string reason;  ///< why it is off-line or read-only, for people
    date_time until;     ///< when that is expected to end; the year 1601 for unknown
    std::string nonce;   ///< of the last change
};
ENTITABLE(shard_map_row, partition_key(map), row_key(literal("shard"), width(shard, 4)),
    properties(low, high, tables_of, state, store, epoch, lease_ms, open_lease_ms, attempt_owner, attempt_store, attempt_epoch, attempt_with, retired, reason, until, nonce))

namespace detail {

/// A logical table in the header of a map.
struct shard_table {
    std::string name;     ///< as it was created
    std::int64_t epoch{}; ///< at which it was made
    bool dropping{};
    bool whole{}; ///< it has had all of its parts: one that is missing was lost
};
/// Tables that are not used any more.
struct shard_retired {
    std::string store;
    std::int64_t epoch{};
    std::int64_t until{}; ///< tables made at this epoch or later are not among them
    std::int32_t shard{}; ///< in their names

    friend bool operator==(shard_retired const&, shard_retired const&) = default;
};
/// A row of a map as it was read.
struct shard_place {
    shard_map_row row;
    etag version;
    std::vector<shard_retired> retired;

    [[nodiscard]] bool allows(bool writes) const noexcept {
        return row.state == "open" || row.state == "closing" || (row.state == "draining" && !writes);
    }
    /// The number in the names of its tables.
    [[nodiscard]] std::int32_t tables_of() const noexcept { return row.tables_of.value_or(row.shard); }
    [[nodiscard]] std::string table_name(shard_table const& table) const; ///< in its store
    /// Whether its table is that one of a number and an epoch in the same store.
    [[nodiscard]] bool has(
        shard_table const& table, std::string_view store, std::int32_t number, std::int64_t epoch) const noexcept;
    [[nodiscard]] key_interval keys() const; ///< where ranges decide; else all
};
/// A map as it was read, with proof that its virtual shards cover every key.
struct shard_map_copy : counted {
    shard_map_header header;
    etag version;
    std::vector<shard_place> places; ///< by their numbers, without a hole; ranges by their keys, with any numbers
    std::vector<shard_table> tables;
    std::string identity;            ///< empty for a map that has none, or is being adopted
    std::vector<std::string> stores; ///< that have it, in order
    steady_time asked_at{};          ///< before the read was sent
    bool by_ranges{};

    /// Whether this row may be relied on at this time.
    [[nodiscard]] bool good(shard_place const& place, steady_time now) const noexcept {
        return now < asked_at + std::chrono::milliseconds{place.row.lease_ms};
    }
    [[nodiscard]] shard_table const* find(std::string_view table) const;
    /// Whether a store is known to have the identity of the map.
    [[nodiscard]] bool lists(std::string_view store) const noexcept {
        return std::find(stores.begin(), stores.end(), store) != stores.end();
    }
    /// The place of a virtual shard; null where there is none.
    [[nodiscard]] shard_place const* find_shard(std::int32_t shard) const noexcept {
        if (by_ranges) {
            return find_range(shard);
        }
        return shard >= 0 && static_cast<std::size_t>(shard) < places.size() ? &places[static_cast<std::size_t>(shard)]
                                                                             : nullptr;
    }
    /// The range that a partition key is in. Only where ranges decide.
    [[nodiscard]] shard_place const& range_of(std::string_view partition_key) const noexcept;

private:
    [[nodiscard]] shard_place const* find_range(std::int32_t shard) const noexcept;
};
using shard_map_ref = shared<shard_map_copy>;

/// The name of a logical table in a virtual shard: never used twice, 63 characters at most.
[[nodiscard]] std::string shard_table_name(std::string_view table, std::int32_t shard, std::int64_t epoch);

/// Whether a store may have this name.
[[nodiscard]] bool is_store_name(std::string_view name) noexcept;

struct lookup_map_state;
struct sharded_state;
/// Stands for the state of a map that was moved from: every request is InvalidInput.
[[nodiscard]] lookup_map_state& absent_map_state();

/// A row of a map to be changed.
struct shard_row_draft {
    shard_map_row row;
    std::vector<shard_retired> retired;
    etag version; ///< of the row that is changed; empty for a new one
    bool erased{};
};
/// A map to be changed.
struct shard_map_draft {
    shard_map_header header;
    std::vector<shard_table> tables;
    std::deque<shard_row_draft> rows; ///< that change: those that were asked for
    std::vector<mutation> others;     ///< of the same partition, and of the same transaction

    /// A row of the map as it is here; null where there is none.
    [[nodiscard]] shard_row_draft* edit(shard_map_copy const& map, std::int32_t shard);
};

/// A clock that runs on while the machine sleeps, for leases.
[[nodiscard]] clock& lease_clock() noexcept;

} // namespace detail

/// Options of a map.
struct lookup_map_options {
    std::chrono::milliseconds lease{std::chrono::seconds{60}}; ///< of the rows of a new map
    clock* time{&detail::lease_clock()};                       ///< by which leases end; outlives the map
    std::chrono::milliseconds check_every{
        std::chrono::seconds{60}}; ///< how often the identity of a store in use is read
};

/// A map in a table of its own. A cheap handle; copies share the client's copy of the map. Clients only read the table. A row of the copy is
/// valid for the row's lease, counted from before the read was sent. The first call after a third of the lease renews the copy, one caller at a
/// time. So a client that sends requests all the time does not notice a map that is unavailable for less than two thirds of the lease.
///
/// One that was moved from answers InvalidInput.
///
/// Thread safety: safe to use from several threads. Callers without a valid copy block until the one that reads it has it: see
/// `on_own_stack` for a catalogue that is a `loop_transport`.
class lookup_map {
public:
    /// Opens a map, and heals nothing. A map by ranges has them in its rows: `virtual_shards::ranges()` opens it, whatever bounds it was made with.
    ///
    /// Errors: InvalidInput where the map was made for another number or function; ShardMapInvalid where the table has no valid map, or
    /// one that was not made to its end; MapUnavailable where it cannot be read or does not exist.
    [[nodiscard]] static result<lookup_map> open(
        any_transport catalogue, std::string table, virtual_shards shards, lookup_map_options const& options = {});
    /// Makes a map and its table, writes its identity into every store, and opens it. Virtual shard i goes to `stores[i % stores.size()]`. The
    /// name of a store has up to 63 letters, digits, "-", "_" and ".". After an error the same call resumes, also with other stores or shards.
    ///
    /// Errors: AlreadyMade where there is a map, whatever it is like: open it; WrongStore where a store belongs to another map or is one of
    /// stores on a hash; InvalidInput for no store, or a name that is none; those of `open`; those of the catalogue and the stores.
    [[nodiscard]] static result<lookup_map> make(any_transport catalogue, std::string table, virtual_shards shards,
        std::vector<std::string> const& stores, store_opener const& open_store, lookup_map_options const& options = {});

    /// The present map as text, a line for each virtual shard.
    [[nodiscard]] result<std::string> to_string() const;

    /// For `sharded` and moves.
    [[nodiscard]] detail::lookup_map_state& state() const { return state_ ? *state_ : detail::absent_map_state(); }

private:
    friend detail::sharded_state; // makes one without a state
    explicit lookup_map(shared<detail::lookup_map_state> state) : state_(std::move(state)) {}

    shared<detail::lookup_map_state> state_;
};

ENTITABLE_END_NAMESPACE

#include <entitable/shards/detail/lookup_map_state.hpp>

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/impl/lookup_map_state.ipp>
#include <entitable/shards/impl/shard_map.ipp>
#include <entitable/shards/impl/shard_map_change.ipp>
#include <entitable/shards/impl/shard_map_making.ipp>
#endif
