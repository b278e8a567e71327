// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `table_sample`: rows of a table as columns of numbered values, all of them or a uniform sample, with the size of every partition. The
/// input of advice, made from rows (`sample_builder`), from entities in memory (`sample_of`), or from a table (`sample_table` in
/// `entitable/advice.hpp`).

#include <entitable/advice/detail/dictionary.hpp>
#include <entitable/advice/key_declaration.hpp>
#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/try.hpp>

#include <span>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a sample.
struct sample_options {
    std::uint64_t rows{100000}; ///< maximum number of rows to keep; each row is equally likely to be kept
    std::uint64_t seed{1};      ///< the same seed keeps the same rows
    /// The rows come in the order of writing. For rows without a Timestamp, their numbers serve as times.
    bool arrival_order{};
};

/// One member of the rows of a sample.
struct sample_column {
    /// The place of a column in a row.
    enum class place : std::uint8_t {
        key,       ///< a whole key: PartitionKey or RowKey
        partition, ///< a component of the partition key
        row,       ///< a component of the row key
        property,  ///< a property
    };
    /// The number of an absent value.
    static constexpr std::uint32_t absent = detail::dictionary::none;

    std::string name;                  ///< name of the member, or PartitionKey or RowKey
    place at{place::property};         ///< part of the row that contains the member
    std::vector<std::uint32_t> codes;  ///< the number of each row's value, or `absent`
    std::vector<std::uint32_t> counts; ///< the number of rows of the sample with each value
    detail::dictionary values;         ///< the type and the bytes of each value

    /// Returns the value with this number. Valid as long as the column.
    [[nodiscard]] value_view value(std::uint32_t code) const noexcept;
    /// Returns the number of different values in the rows of the sample; absent values do not count.
    [[nodiscard]] std::size_t distinct() const noexcept;
    /// Returns the number of rows of the sample without a value.
    [[nodiscard]] std::size_t absent_rows() const noexcept;
};

/// Rows and bytes of a partition.
struct partition_total {
    std::uint64_t rows{};  ///< number of entities
    std::uint64_t bytes{}; ///< size as the service measures it (`service_size`)
};

/// A sample of a table.
///
/// Thread safety: several threads may read it.
class table_sample {
public:
    /// Returns the key declaration of the table; without an entity type, PartitionKey and RowKey.
    [[nodiscard]] key_declaration const& declared() const noexcept { return declared_; }
    [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }       ///< number of rows read
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }     ///< size of these rows (`service_size`)
    [[nodiscard]] std::size_t size() const noexcept { return times_.size(); } ///< number of rows kept
    [[nodiscard]] bool whole() const noexcept { return size() == rows_; }     ///< whether all rows were kept
    /// Returns the fraction of the rows in the sample, 0 to 1; 1 for an empty table.
    [[nodiscard]] double fraction() const noexcept {
        return rows_ == 0 ? 1.0 : static_cast<double>(size()) / static_cast<double>(rows_);
    }
    /// Whether reading stopped before the end of the table: the statistics describe the beginning of the table, in key order.
    [[nodiscard]] bool cut_short() const noexcept { return cut_short_; }
    /// Returns the maximum difference between a share (0 to 1) in the sample and in all rows read, in 95 of 100 samples.
    [[nodiscard]] double error_of(double share) const noexcept;

    /// Returns the members of the rows.
    [[nodiscard]] std::span<sample_column const> columns() const noexcept { return columns_; }
    /// Returns the member with this name; null if no row has it.
    [[nodiscard]] sample_column const* find(std::string_view name) const noexcept;
    /// Returns the partition keys of all rows read, by number.
    [[nodiscard]] detail::dictionary const& partition_keys() const noexcept { return partition_keys_; }
    /// Returns the size of each partition over all rows read, by the number of its key.
    [[nodiscard]] std::span<partition_total const> partitions() const noexcept { return partitions_; }
    /// Returns the time of the last write of each kept row, in ticks; 0 if unknown.
    [[nodiscard]] std::span<std::int64_t const> times() const noexcept { return times_; }

private:
    friend class sample_builder;

    key_declaration declared_;
    std::uint64_t rows_{};
    std::uint64_t bytes_{};
    bool cut_short_{};
    std::vector<sample_column> columns_;
    detail::dictionary partition_keys_;
    std::vector<partition_total> partitions_;
    std::vector<std::int64_t> times_;
};

/// Makes a sample of rows, in one pass. Keeps up to `rows` rows (see the options) and the sizes of all partitions.
///
/// Thread safety: one thread at a time.
class sample_builder {
public:
    /// Samples rows with undivided keys, whose members are called PartitionKey and RowKey.
    explicit sample_builder(sample_options const& options = {});
    /// Samples rows with keys of these layouts. A row with different keys is counted, and its components are absent.
    sample_builder(key_declaration declared, key_layout partition, key_layout row, sample_options const& options = {});

    /// Adds a row; system rows (`system_row`) are omitted.
    void add(row_view row);
    /// Returns the sample of the rows so far. `cut_short`: there were more rows, which were not added.
    [[nodiscard]] table_sample finish(bool cut_short = false) &&;

private:
    void keep(row_view row, std::size_t slot);
    void take_components(std::string_view key, key_layout layout, sample_column::place at, std::size_t slot);
    void put(std::string_view name, sample_column::place at, value_view value, std::size_t slot);

    sample_options options_;
    key_layout partition_layout_;
    key_layout row_layout_;
    std::uint64_t random_;
    table_sample made_;
    std::size_t next_column_{}; ///< the likely index of the next member's column
    std::string bytes_;
};

/// Makes a sample of entities in memory: no table is needed. Errors: the error of the first entity whose keys cannot be encoded.
template <class Entities>
[[nodiscard]] result<table_sample> sample_of(Entities const& entities, sample_options const& options = {}) {
    using entity_type = std::remove_cvref_t<decltype(*std::begin(entities))>;
    using map = mapping<entity_type>;
    sample_builder builder{declaration_of<entity_type>(), map::partition_layout, map::row_layout, options};
    row stored;
    for (entity_type const& each : entities) {
        ENTITABLE_CHECK(to_row(each, stored));
        builder.add(stored);
    }
    return std::move(builder).finish();
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/sample.ipp>
#endif
