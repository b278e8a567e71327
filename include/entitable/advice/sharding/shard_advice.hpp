// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `advise_shards`: compares shard keys on a sample and a workload before there is a shard map: shards that the queries ask, evenness, load of
/// the stores, and what a lost store costs. `months_until_full`: how long the virtual shards last.
///
///     shard_options options;
///     options.stores = 3;
///     options.also = {{"check digit", {"isbn"}, virtual_shards{11, isbn_check_digit}}};
///     std::puts(advise_shards(sample, load, options).value().to_string().c_str());
///
/// The model is that of `key_score`: rows and load of a shard are those of the rows of the sample in it.

#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/key_score.hpp>
#if !defined(ENTITABLE_IMPORTED)
#include <entitable/shards/map/virtual_shards.hpp>
#endif

#include <map>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// A shard key: the members whose values pick the shard, and how.
struct shard_key {
    std::string name;                 ///< readable text
    std::vector<std::string> members; ///< members whose text, joined by "__", is given to `shards`
    virtual_shards shards{48};        ///< assigns the text to a virtual shard
};

/// Options of a comparison.
struct shard_options {
    std::uint32_t stores{2};  ///< stores, 1 to 900
    std::uint32_t number{48}; ///< virtual shards of the shard keys that are tried, 1 to `virtual_shards::most`
    std::vector<std::uint32_t> store_of{}; ///< store of each virtual shard, for all keys; empty: shard modulo stores
    std::vector<shard_key> also{};         ///< more shard keys to compare
    service_targets targets{};             ///< targets of each store
};

/// The shards that a query asks. Each is a request at least.
struct shard_query_score {
    std::string name;                  ///< name of the query
    double per_second{};               ///< rate of the query
    std::uint32_t asked{};             ///< virtual shards that are asked
    std::vector<std::uint32_t> shards; ///< these shards, unless the values are placeholders for any one shard
};

/// Rows with the same values of a shard key's members.
struct shard_group {
    std::string key;                    ///< text of the members
    std::optional<std::uint32_t> shard; ///< virtual shard; absent if the key belongs to none
    double rows{};                      ///< estimated rows of the table
    double load{};                      ///< entities a second
};

/// What is lost while one store is down.
struct store_loss {
    double rows_share{}; ///< share of the rows in the store, 0 to 1
    double failing{};    ///< queries and written entities a second that fail
    double partial{};    ///< queries a second that miss a part of their result
    double served{};     ///< queries and written entities a second that are not affected
};

/// A shard key under a workload.
struct shard_key_score {
    shard_key key;                       ///< the shard key
    std::vector<std::uint32_t> store_of; ///< the store of each virtual shard
    std::uint32_t stores{};              ///< number of stores
    std::vector<shard_group> groups;     ///< rows of each value, in the order of the sample
    std::vector<double> rows;            ///< rows of each virtual shard
    std::vector<double> load;            ///< entities a second of each virtual shard
    std::vector<double> store_rows;      ///< rows of each store
    std::vector<double> store_load;      ///< entities a second of each store
    double unmapped_rows{};              ///< rows without a shard
    double writes{};                     ///< entities written per second
    double bytes_of_row{};               ///< mean bytes of a row
    double growth{};   ///< rank correlation of the first member and time: above 0.9 a range gets all writes
    bool first{};      ///< whether the partition key begins with these members: no other keys are necessary
    bool fits{};       ///< whether each store's load is within the target of an account
    double requests{}; ///< requests a second of all queries: each shard that is asked gets one at least
    std::vector<shard_query_score> queries; ///< in the order of the workload

    /// Returns the rows of the fullest shard, divided by the mean; 1 is even, and 1 without rows.
    [[nodiscard]] double shard_evenness() const noexcept;
    /// Returns the rows of the fullest store, divided by the mean.
    [[nodiscard]] double store_evenness() const noexcept;
    /// Returns the load of the busiest store, divided by the mean.
    [[nodiscard]] double load_evenness() const noexcept;
    /// Returns what is lost while a store is down. A query of one shard, and a write, is lost as often as the store has rows.
    [[nodiscard]] store_loss without(std::uint32_t store) const;
};

/// Growth of a table.
struct shard_growth {
    double bytes{};                     ///< bytes of the table now; 0: those of the sample's table
    double percent_a_month{};           ///< growth of every value in a month, compounded
    std::map<std::string, double> of{}; ///< growth of single values ("tenant-42"), by the text of the shard key
    double store_bytes{};               ///< bytes that a store holds
};

/// How long shards last. Infinity: longer than 100 years.
struct shard_lifetime {
    double store_months{}; ///< until the first store is full, if no shard moves
    std::uint32_t store{}; ///< that store
    double shard_months{}; ///< until one virtual shard fills a store: moves no longer help
    std::uint32_t shard{}; ///< that shard
    std::uint32_t
        stores_then{}; ///< stores that all shards need at that time: each shard moves as a whole, at most one store each
};

/// Returns how long the stores and the virtual shards last. Errors: OutOfRangeInput names a figure that is negative, not a number, or a
/// growth of more than 1,000 %.
[[nodiscard]] result<shard_lifetime> months_until_full(shard_key_score const& of, shard_growth const& growth);

/// Shard keys, the best first.
struct shard_advice {
    std::vector<shard_key_score>
        candidates;         ///< ranked by: no row without a shard, fit, no growing range, few requests, even stores
    std::uint32_t stores{}; ///< number of stores
    std::uint64_t rows{};   ///< rows of the table

    /// Returns the comparison as text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

/// Scores one shard key. Errors: as `advise_shards`.
[[nodiscard]] result<shard_key_score> score_shards(
    table_sample const& sample, workload const& load, shard_key const& key, shard_options const& options = {});

/// Compares shard keys: the partition key, its first member, each member that a query fixes (all by hash), ranges of the first member with
/// as many rows each, and `shard_options::also`.
///
/// Errors: those of `workload::validate`; OutOfRangeInput for a number of stores or shards; InvalidInput names a member that no row of the
/// sample has, and a store of a shard that does not exist.
[[nodiscard]] result<shard_advice> advise_shards(
    table_sample const& sample, workload const& load, shard_options const& options = {});

namespace detail {

/// Returns one line for each candidate.
[[nodiscard]] text_table shard_key_rows(shard_advice const& of);
/// Returns a line for each query, with the shards that it asks under each candidate, by number.
[[nodiscard]] text_table shard_query_rows(shard_advice const& of, std::size_t most);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/sharding/impl/shard_advice.ipp>
#endif
