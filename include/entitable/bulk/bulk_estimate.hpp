// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Estimate of a bulk load's cost, from a sample of its rows, without requests.

#include <entitable/client/table.hpp>
#include <entitable/core/request/batch_packer.hpp>

#include <map>
#include <ranges>

ENTITABLE_BEGIN_NAMESPACE

/// Maximum throughput of a service (source: "Scalability targets for Table storage": 20,000 entities in an account, 2,000 in a partition;
/// of 1 KiB).
struct bulk_targets {
    double entities_a_second{20'000};               ///< entities a second in total
    double entities_a_second_in_a_partition{2'000}; ///< entities a second in each partition
};

/// Cost of a load.
struct bulk_cost {
    std::uint64_t rows{};    ///< number of rows requested
    std::uint64_t refused{}; ///< rows of the sample that are too large for a transaction of the service
    /// Transactions if more rows mean more partitions of the sizes in the sample. A batch is billed as one transaction.
    std::uint64_t transactions{};
    /// Transactions if more rows mean larger partitions.
    std::uint64_t least_transactions{};
    std::uint64_t bytes{}; ///< size of the entities as the service measures it
    /// Duration at the targets, if more rows mean larger partitions: limited by the busiest partition, or by all partitions together.
    double seconds{};
};

namespace detail {

/// Adds the rows of a sample.
class bulk_sample {
public:
    bulk_sample(std::string table, profile const& limits) : limits_(limits), packer_(std::move(table), limits) {}

    void add(result<row> each);
    [[nodiscard]] bulk_cost cost(std::uint64_t rows, bulk_targets const& targets);

private:
    struct share {
        std::uint64_t rows{};
        std::uint64_t sent{}; ///< bytes as sent
    };

    profile limits_;
    batch_packer packer_;
    std::map<std::string, share, std::less<>> partitions_;
    std::uint64_t rows_{};
    std::uint64_t refused_{};
    std::uint64_t bytes_{};
};

} // namespace detail

/// Estimates the cost of `rows` rows that resemble the sample. The sample is a part of the input, in the order of the input, of a few
/// thousand rows; it is held in memory. An empty sample costs nothing.
template <class Entity, class Range>
[[nodiscard]] bulk_cost bulk_estimate(
    table<Entity> const& into, Range&& sample, std::uint64_t rows, bulk_targets const& targets = {}) {
    static_assert(
        std::ranges::input_range<Range>, "a sample of a bulk load must be an input range of the table's entities");
    detail::bulk_sample all{into.name(), into.store().profile()};
    for (auto&& each : sample) { all.add(to_row(static_cast<Entity const&>(each))); }
    return all.cost(rows, targets);
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/impl/bulk_estimate.ipp>
#endif
