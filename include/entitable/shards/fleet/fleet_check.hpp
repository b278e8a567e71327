// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `check_fleet`: reads every row of every store, and reports the content and misplaced rows. `sizes_of`: the size of each store and its
/// free share. `remove_misplaced`: removes the misplaced rows.

#include <entitable/shards/fleet/fleet.hpp>
#include <entitable/shards/fleet/rows_content.hpp>

#include <map>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Formats a ratio with three decimals; whole numbers without decimals.
[[nodiscard]] std::string text_of_ratio(double ratio);

} // namespace detail

/// The rows of a table in a virtual shard.
struct shard_content {
    std::int32_t shard{}; ///< the virtual shard
    std::string store;    ///< the store that was read
    std::string table;    ///< the logical table
    rows_content content; ///< content of its rows, except misplaced rows, which no client finds
};
/// A row on a shard that does not own its key.
struct misplaced_row {
    std::int32_t shard{};                    ///< the shard that contains the row
    std::string store;                       ///< store of that shard
    std::string table;                       ///< the logical table
    std::string partition_key;               ///< key of the row
    std::string row_key;                     ///< key of the row
    std::optional<std::uint32_t> belongs_to; ///< the shard that owns its key; empty if no shard does
};
/// A virtual shard that could not be read.
struct unreachable_shard {
    std::int32_t shard{};   ///< the virtual shard
    std::string store;      ///< its store
    entitable::error error; ///< the error from the store
};
/// The result of `check_fleet`.
struct fleet_report {
    static constexpr std::size_t most_named = 100; ///< maximum number of rows listed; all rows are counted

    std::vector<shard_content> contents;   ///< sorted by shard, then by table; without shards that could not be read
    std::vector<misplaced_row> misplaced;  ///< the first misplaced rows
    std::uint64_t misplaced_rows{};        ///< number of misplaced rows, listed or not
    std::vector<unreachable_shard> unread; ///< sorted by shard

    /// Whether every shard was read, and every row is on its shard.
    [[nodiscard]] bool healthy() const noexcept { return misplaced_rows == 0 && unread.empty(); }
    /// Returns this report if it is healthy. Otherwise returns the error of the first shard that could not be read, or
    /// RowMismatch for misplaced rows, with the counts in the message.
    /// `auto report = check_fleet(all).value().whole();`
    [[nodiscard]] result<fleet_report> whole() const;
    /// Returns the content of a logical table, or of all tables if the name is empty.
    [[nodiscard]] rows_content of_table(std::string_view table = {}) const noexcept;
    /// Returns the report as text, one line per table and per problem. The report contains keys: keep it out of logs.
    [[nodiscard]] std::string to_string() const;
};

/// Reads every row of every store, the stores in parallel. A shard that moves during the check is read again at its new place. Rows written
/// during the check may or may not be counted. Cost: a scan of everything. Errors: those of the map; errors of stores are in the report.
[[nodiscard]] result<fleet_report> check_fleet(fleet const& of);

/// The size of a store.
struct store_size {
    std::string store;                     ///< its name
    std::size_t shards{};                  ///< number of virtual shards
    std::uint64_t rows{};                  ///< rows of all tables of the map
    std::uint64_t bytes{};                 ///< stored size of these rows
    std::optional<std::uint64_t> capacity; ///< capacity in bytes, if known

    /// Returns the free share, 0 to 1; nullopt if the capacity is unknown.
    [[nodiscard]] std::optional<double> free_share() const noexcept;
};
/// The measure by which stores are compared.
enum class balance_by : std::uint8_t {
    shards, ///< virtual shards
    rows,   ///< rows
    bytes,  ///< bytes of rows
    load,   ///< a user-supplied number for each shard
};
/// The sizes of all stores at one time.
struct fleet_sizes {
    date_time at;                   ///< the time of the measurement
    std::vector<store_size> stores; ///< sorted by name, including stores without a shard

    /// Returns the size of the largest store divided by the mean, in shards, rows or bytes: 1 is perfectly even, and is returned if there
    /// is no data.
    [[nodiscard]] double imbalance(balance_by what) const noexcept;
    /// Returns the sizes as text, one line per store.
    [[nodiscard]] std::string to_string() const;
};
/// Returns the capacity of a store in bytes; nullopt if it is unknown.
using store_capacity = std::function<std::optional<std::uint64_t>(std::string_view store)>;

/// Measures the sizes of all stores. Errors: those of the map; the error of the first store that cannot be read.
[[nodiscard]] result<fleet_sizes> sizes_of(fleet const& of, store_capacity const& capacity = {});

/// Predicts when a store will be full, from its growth between two measurements; nullopt if it does not grow or its capacity is unknown.
[[nodiscard]] std::optional<date_time> full_at(
    fleet_sizes const& earlier, fleet_sizes const& later, std::string_view store) noexcept;

/// The result of `remove_misplaced`.
struct misplaced_removal {
    std::uint64_t rows{}; ///< number of rows in all tables, excluding rows whose removal was not confirmed
    std::map<std::string, std::uint64_t> by_table; ///< number of rows for each logical table that had misplaced rows
    std::vector<unreachable_shard> unread;         ///< shards that failed: call again

    /// Returns this result if no shard failed; otherwise the error of the first shard that failed, with the name of its store.
    [[nodiscard]] result<misplaced_removal> whole() const;
};

/// Removes misplaced rows: rows in a table that belongs to only one shard, with keys that the shard does not own. A
/// write that arrives late, after its range was split and one half moved away, leaves such a row. The write was never
/// acknowledged, no client reads the row, and no move will copy it. Tables that two shards share, and tables from which
/// a move still has to erase keys, are skipped. Safe while clients write and shards are moved, split and merged; after
/// an interruption call it again.
///
/// Do not use it on stores in which another map has tables of the same names. Check the report of `check_fleet` first: a row that a program
/// wrote directly into a store is removed as well.
///
/// Errors: NotSupported if a user-defined function assigns shards, because after an extension of the function rows may still have to be
/// copied (`virtual_shards::otherwise`); those of the map. Errors of a store are in `misplaced_removal::unread`. Cost: with ranges,
/// two queries for each table and shard, otherwise a scan of all keys; and one transaction for every 100 rows removed from a partition.
/// Memory: one page of keys per store. Thread safety: safe to use from several threads and programs concurrently.
[[nodiscard]] result<misplaced_removal> remove_misplaced(fleet const& of);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/fleet_check.ipp>
#endif
