// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The arithmetic of provisioned throughput (request units a second, RU/s) in Cosmos DB, one function per formula. The only source is the
/// provider's page "Best practices for scaling provisioned throughput (RU/s)"; values that the page has changed are dated parameters.
///
///     instant_maximum(5);                       // 50,000
///     even_raise(5, 150'000);                   // 200,000
///     lowest_units({.storage_gb = 80, .highest_ever = 200'000});

#include <entitable/core/config.hpp>

#include <cstdint>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// The values on the page as of a given day.
struct throughput_rules {
    std::string_view as_of{"2025-07-23"}; ///< the day of the page
    double units_per_partition{10'000};   ///< maximum RU/s of a physical partition
    double gb_per_partition{50};          ///< maximum GB of a physical partition; 30 with the API for Cassandra
    double least_units{400};              ///< minimum RU/s of manual throughput
    double least_units_per_gb{1};         ///< minimum RU/s for each stored GB
    double highest_ever_divisor{100};     ///< divisor of the highest RU/s ever provisioned, which gives a lower bound
    double autoscale_factor{10};          ///< maximum of autoscale divided by its minimum
    double start_manual{6'000};           ///< RU/s for each physical partition of a new container
    double start_autoscale{10'000};       ///< RU/s with autoscale, or in a database that shares its throughput
    double least_split_hours{4};          ///< typical minimum time of a split
    double most_split_hours{6};           ///< typical maximum time of a split
    std::uint32_t portal_ranges{50};      ///< maximum ranges of keys that the portal shows
};

/// The rules documented in 2025: 1 RU/s for each GB.
[[nodiscard]] constexpr throughput_rules throughput_rules_of_2025() noexcept { return {}; }
/// The rules documented in 2021: 10 RU/s for each GB; all other values are the same.
[[nodiscard]] constexpr throughput_rules throughput_rules_of_2021() noexcept {
    throughput_rules made;
    made.as_of = "2021-08-20";
    made.least_units_per_gb = 10;
    return made;
}

/// Returns the RU/s that P physical partitions provide immediately: 10,000 P.
[[nodiscard]] double instant_maximum(std::uint64_t partitions, throughput_rules const& rules = {}) noexcept;
/// Returns the physical partitions after a raise to `units`: ceil(S / 10,000), never fewer than the current number.
[[nodiscard]] std::uint64_t partitions_for(
    std::uint64_t partitions, double units, throughput_rules const& rules = {}) noexcept;
/// Returns how many times every partition must be split in two for `units`: ceil(log2(S / (10,000 P))), 0 if no split is needed.
[[nodiscard]] std::uint32_t doublings_for(
    std::uint64_t partitions, double units, throughput_rules const& rules = {}) noexcept;
/// Returns the throughput to set first when raising it, chosen such that every partition is split the same number of times: 10,000 P
/// 2^doublings; `units` itself if no partition is split.
[[nodiscard]] double even_raise(std::uint64_t partitions, double units, throughput_rules const& rules = {}) noexcept;

/// The inputs of the lowest possible throughput.
struct throughput_floor {
    double storage_gb{};   ///< the stored data
    double highest_ever{}; ///< the highest RU/s ever provisioned
};
/// Returns the lowest manual RU/s: max(400, GB x RU/s per GB, highest ever / 100).
[[nodiscard]] double lowest_units(throughput_floor const& floor, throughput_rules const& rules = {}) noexcept;
/// Returns the lowest maximum of autoscale: 10 times `lowest_units`.
[[nodiscard]] double lowest_autoscale_maximum(
    throughput_floor const& floor, throughput_rules const& rules = {}) noexcept;
/// Returns the minimum of autoscale with a maximum of `units`: a tenth.
[[nodiscard]] double autoscale_minimum(double units, throughput_rules const& rules = {}) noexcept;

/// Returns the hours it takes to write `items` of `units_each` request units with `units` RU/s, fully used: items x RU / RU/s / 3600.
[[nodiscard]] double hours_to_write(double items, double units_each, double units) noexcept;

/// The meaning of a share of responses with status 429 (source: "Diagnose and troubleshoot request rate too large").
enum class throttling : std::uint8_t {
    idle,    ///< under 1 %: there is throughput to spare
    healthy, ///< 1 to 5 %, if latency is acceptable: the provisioned throughput is used; nothing to do
    short_,  ///< more than 5 %: look for a hot partition, then raise to the instant maximum and look again
};
/// Judges the share, 0 to 1.
[[nodiscard]] throttling judge_throttling(double share_of_429) noexcept;

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/throughput.ipp>
#endif
