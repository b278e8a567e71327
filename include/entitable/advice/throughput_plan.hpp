// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `plan_throughput`: how to get from the present request units a second to the desired ones, step by step; and
/// `plan_ingest`: what to provision first when much data is to be written.
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
    std::uint64_t partitions{}; ///< physical partitions now; 0 where only `instant_maximum` is known
    double instant_maximum{};   ///< RU/s, as the portal or the resource provider shows it; used where `partitions` is 0
    double desired{};           ///< RU/s to get to
    double storage_gb{};        ///< what is stored, for the lowest value afterwards
    double highest_ever{};      ///< the highest RU/s ever provisioned; 0: no more than in this plan
    throughput_rules rules{};   ///< the figures of the provider's page
};

/// One step of a timetable.
struct throughput_step {
    double from_hour{};         ///< when it begins
    double to_hour{};           ///< when it is done at the latest; equal to `from_hour` for what happens at once
    double units{};             ///< RU/s that are set
    std::uint64_t partitions{}; ///< physical partitions when it is done
    std::string what;           ///< what to do
    std::string undo;           ///< how to undo it
};

/// How uneven partitions are after a raise straight to the desired value, where none is split twice.
struct split_skew {
    std::uint64_t split{};               ///< partitions that are split in two
    std::uint64_t unsplit{};             ///< partitions that are not
    double share_unsplit{};              ///< of all keys, in a partition that was not split
    std::optional<double> share_split{}; ///< of all keys, in a half of one that was; absent where none is
};

/// A plan to get to the desired throughput.
struct throughput_plan {
    throughput_request asked;              ///< with the number of partitions filled in
    double instant_maximum{};              ///< RU/s of the present partitions
    bool instant{};                        ///< whether that is enough
    std::uint64_t partitions_direct{};     ///< partitions after a raise straight to the desired value
    double units_each_direct{};            ///< RU/s that each of these gets
    std::optional<split_skew> skew_direct; ///< absent where some partitions would be split more than once
    double first_raise{};                  ///< RU/s to set first so that every partition is split equally often
    std::uint32_t doublings{};             ///< how often each is split then
    std::uint64_t partitions_even{};       ///< partitions after that
    double units_each_even{};              ///< RU/s that each gets when the value is lowered to the desired one
    double lowest_afterwards{};            ///< the lowest manual RU/s afterwards
    double lowest_autoscale_maximum{};     ///< the same with autoscale
    double autoscale_from{};               ///< what autoscale with the desired maximum goes down to
    std::vector<throughput_step> steps;    ///< the timetable of the even way

    /// As text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

/// Makes a plan. OutOfRangeInput names what is missing, negative, no number or below the least that can be provisioned.
[[nodiscard]] result<throughput_plan> plan_throughput(throughput_request const& request);

/// The input of a plan for much data that is written into a new container.
struct ingest_request {
    double data_gb{};            ///< all of it
    double gb_per_partition{40}; ///< how full a physical partition may be: 30 where it will grow, 45 where it will not
    bool autoscale{};            ///< or a database that shares its throughput
    double item_kb{1};           ///< one entity
    double units_per_write{10};  ///< request units that one write is charged; measure yours
    throughput_rules rules{};    ///< the figures of the provider's page
};

/// A plan to write it fast.
struct ingest_plan {
    ingest_request asked;       ///< the input
    std::uint64_t partitions{}; ///< physical partitions that hold it
    double fill{};              ///< how full each is meant to be, 0 to 1
    double create_with{};       ///< RU/s that the container is created with, so that it begins with these partitions
    double raise_to{};          ///< RU/s before writing begins, at once: 10,000 for each partition
    double hours{};             ///< at least, when all RU/s are used
    std::vector<throughput_step> steps; ///< the timetable

    /// As text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

/// Makes a plan. OutOfRangeInput names what is missing, negative, no number, or fuller than a partition can be.
[[nodiscard]] result<ingest_plan> plan_ingest(ingest_request const& request);

/// A kind of request and what the service charged for one of it: a figure to be measured.
struct charged_request {
    std::string name;    ///< for a person
    double charge{};     ///< request units for one, as the service reported them
    double per_second{}; ///< how many there are
};

/// RU/s for all of them.
[[nodiscard]] double units_for(std::vector<charged_request> const& requests) noexcept;

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/throughput_plan.ipp>
#endif
