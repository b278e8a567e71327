// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `check_fleet`: reads every row of every store; reports what is there, and rows on a shard that they do not belong to. `sizes_of`: the
/// sizes by store, with the free share.

#include <entitable/fleet/fleet.hpp>
#include <entitable/fleet/rows_content.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// The rows of a table in a virtual shard.
struct shard_content {
    std::int32_t shard{}; ///< the virtual shard
    std::string store;    ///< where it was read
    std::string table;    ///< the logical table
    rows_content content; ///< of its rows, without those that are misplaced: no client finds them
};
/// A row on a shard to which its key does not belong.
struct misplaced_row {
    std::int32_t shard{};                    ///< where it is
    std::string store;                       ///< of that shard
    std::string table;                       ///< the logical table
    std::string partition_key;               ///< of the row
    std::string row_key;                     ///< of the row
    std::optional<std::uint32_t> belongs_to; ///< the shard of its key; nothing where it has none
};
/// A virtual shard that could not be read.
struct unread_shard {
    std::int32_t shard{}; ///< the virtual shard
    std::string store;    ///< where it is
    error why;            ///< what the store answered
};
/// What `check_fleet` found.
struct fleet_report {
    static constexpr std::size_t most_named = 100; ///< rows that are named; all are counted

    std::vector<shard_content> contents;  ///< by shard, then by table; without shards that could not be read
    std::vector<misplaced_row> misplaced; ///< the first of them
    std::uint64_t misplaced_rows{};       ///< all of them
    std::vector<unread_shard> unread;     ///< by shard

    /// Whether every shard was read, and every row is where it belongs.
    [[nodiscard]] bool healthy() const noexcept { return misplaced_rows == 0 && unread.empty(); }
    /// This report if it is healthy. Else the error of the first shard that could not be read, or RowMismatch for misplaced rows; the message has
    /// the counts. `auto report = check_fleet(all).value().whole();`
    [[nodiscard]] result<fleet_report> whole() const;
    /// The figures of a logical table; of all tables for an empty name.
    [[nodiscard]] rows_content of_table(std::string_view table = {}) const noexcept;
    /// As text, a line for each table and each problem. It has keys: keep it out of logs.
    [[nodiscard]] std::string to_string() const;
};

/// Reads every row of every store, the stores at once. A shard that moves meanwhile is read again at its new place. Rows that are written
/// meanwhile may be in the figures or not. Cost: a scan of everything. Errors: those of the map; what a store answers is in the report.
[[nodiscard]] result<fleet_report> check_fleet(fleet const& of);

/// The size of a store.
struct store_size {
    std::string store;                     ///< its name
    std::size_t shards{};                  ///< virtual shards
    std::uint64_t rows{};                  ///< of all tables of the map
    std::uint64_t bytes{};                 ///< of these rows, as they are stored
    std::optional<std::uint64_t> capacity; ///< bytes that it may hold, where that is known

    /// The share that is free, 0 to 1; absent where the capacity is not known.
    [[nodiscard]] std::optional<double> free_share() const noexcept;
};
/// By what stores are compared.
enum class balance_by : std::uint8_t {
    shards, ///< virtual shards
    rows,   ///< rows
    bytes,  ///< bytes of rows
    load,   ///< a figure of the caller's for each shard
};
/// The sizes of all stores at one time.
struct fleet_sizes {
    date_time at;                   ///< when it was measured
    std::vector<store_size> stores; ///< by name, including those without a shard

    /// The largest of all stores divided by the mean: 1 is even. By shards, rows or bytes; 1 where there is nothing.
    [[nodiscard]] double imbalance(balance_by what) const noexcept;
    /// As text, a line for each store.
    [[nodiscard]] std::string to_string() const;
};
/// Returns how many bytes a store may hold; nothing where that is not known.
using store_capacity = std::function<std::optional<std::uint64_t>(std::string_view store)>;

/// The sizes of stores. Errors: those of the map; the first store that cannot be read.
[[nodiscard]] result<fleet_sizes> sizes_of(fleet const& of, store_capacity const& capacity = {});

/// When a store will be full if it grows as between two measurements; nothing where it does not grow or its capacity is not known.
[[nodiscard]] std::optional<date_time> full_at(
    fleet_sizes const& earlier, fleet_sizes const& later, std::string_view store) noexcept;

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/fleet_check.ipp>
#endif
