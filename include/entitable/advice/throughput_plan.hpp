// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `plan_throughput`: plans the steps from the current request units a second to the desired number; and `plan_ingest`: plans the initial
/// throughput for writing large amounts of data.
///
///     plan_throughput({.partitions = 5, .desired = 150'000}).value().to_string();

#include <entitable/advice/throughput.hpp>
#include <entitable/core/result.hpp>

#include <optional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The input of a plan.
struct throughput_request {
    std::uint64_t partitions{}; ///< physical partitions now; 0 if only `instant_maximum` is known
    double instant_maximum{};   ///< RU/s, as shown by the portal or the resource provider; used if `partitions` is 0
    double desired{};           ///< the desired RU/s
    double storage_gb{};        ///< the stored data, for the lowest value afterwards
    double highest_ever{};      ///< the highest RU/s ever provisioned; 0 if no more than in this plan
    throughput_rules rules{};   ///< the values of the provider's page
};

/// One step of a timetable.
struct throughput_step {
    double from_hour{}; ///< start of the step
    double
        to_hour{}; ///< typical latest end of the step by the provider's page; equal to `from_hour` for immediate steps
    double
        assumed_hour{}; ///< end if every doubling of the partitions took as long as the whole: an assumption; 0: there is none
    double units{};             ///< RU/s that are set
    std::uint64_t partitions{}; ///< physical partitions when the step is done
    std::string what;           ///< action to take
    std::string undo;           ///< action that reverts the step
};

/// The skew of partitions after a direct raise to the desired value, if no partition is split twice.
struct split_skew {
    std::uint64_t split{};               ///< partitions that are split in two
    std::uint64_t unsplit{};             ///< partitions that are not split
    double share_unsplit{};              ///< share of all keys in a partition that was not split
    std::optional<double> share_split{}; ///< share of all keys in half of a split partition; absent if none is split
};

/// A plan to reach the desired throughput.
struct throughput_plan {
    throughput_request asked;              ///< the request, with the number of partitions filled in
    double instant_maximum{};              ///< RU/s of the current partitions
    bool instant{};                        ///< whether `instant_maximum` is enough
    std::uint64_t partitions_direct{};     ///< partitions after a direct raise to the desired value
    double units_each_direct{};            ///< RU/s of each of these partitions
    std::optional<split_skew> skew_direct; ///< absent if some partitions would be split more than once
    double first_raise{};                  ///< RU/s to set first, so that every partition is split equally often
    std::uint32_t doublings{};             ///< number of times that each partition is then split
    std::uint64_t partitions_even{};       ///< partitions after these splits
    double units_each_even{};              ///< RU/s of each partition after lowering to the desired value
    double lowest_afterwards{};            ///< the lowest manual RU/s afterwards
    double lowest_autoscale_maximum{};     ///< lowest autoscale maximum afterwards
    double autoscale_from{};               ///< the minimum of autoscale with the desired maximum
    std::vector<throughput_step> steps;    ///< the timetable of the even raise

    /// Returns the plan as text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

/// Makes a plan. Errors: OutOfRangeInput names a missing, negative or non-numeric value, or a value below the minimum that can be
/// provisioned.
[[nodiscard]] result<throughput_plan> plan_throughput(throughput_request const& request);

/// The input of a plan for writing large amounts of data to a new container.
struct ingest_request {
    double data_gb{};            ///< size of all data
    double gb_per_partition{40}; ///< target size of a physical partition: 30 if it will grow, 45 if it will not
    bool autoscale{};            ///< set for autoscale, or for a database that shares its throughput
    double item_kb{1};           ///< size of one entity
    double units_per_write{10};  ///< request units charged for one write; measure yours: `measured_ingest`
    throughput_rules rules{};    ///< the values of the provider's page
};

/// A plan to write the data fast.
struct ingest_plan {
    ingest_request asked;               ///< request of the plan
    std::uint64_t partitions{};         ///< physical partitions that hold the data
    double fill{};                      ///< target fill of each partition, 0 to 1
    double create_with{};               ///< RU/s of a new container that starts with these partitions
    double raise_to{};                  ///< RU/s before writing starts, set at once: 10,000 for each partition
    double hours{};                     ///< minimum hours, if all RU/s are used
    std::vector<throughput_step> steps; ///< steps of the timetable

    /// Returns the plan as text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

/// Makes a plan. Errors: OutOfRangeInput names a missing, negative or non-numeric value, or a fill above the maximum of a partition.
[[nodiscard]] result<ingest_plan> plan_ingest(ingest_request const& request);

/// A kind of request and the service's charge for one: a measured value.
struct charged_request {
    std::string name;    ///< readable text
    double charge{};     ///< request units of one operation, as the service reported them
    double per_second{}; ///< operations a second
};

/// Returns the RU/s for all requests.
[[nodiscard]] double units_for(std::vector<charged_request> const& requests) noexcept;

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/throughput_plan.ipp>
#endif
