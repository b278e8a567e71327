// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `service_targets`: the targets that a service publishes, and what the cost model of the advice assumes besides.

#include <entitable/core/config.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE

/// Targets of a service, and the model of what a query costs. The targets are published ("Scalability and performance targets for
/// Table storage"); the two times are not: they are assumptions that rank designs, and a stress test gives yours.
struct service_targets {
    double partition_rate{2'000};      ///< entities a second of one partition (500 in the first edition of the page)
    double account_rate{20'000};       ///< entities a second of one account
    double partition_bytes{};          ///< bytes that one partition may hold; 0: no limit of its own
    std::uint32_t page_rows{1'000};    ///< entities in one answer at most
    std::uint32_t batch_rows{100};     ///< entities in one transaction at most
    double seconds_per_request{0.005}; ///< assumed: one request and its answer
    double seconds_per_row{20e-6};     ///< assumed: one entity that the service examines
};

/// Azure Table Storage.
[[nodiscard]] constexpr service_targets storage_targets() noexcept { return {}; }
/// The Table API of Cosmos DB: a logical partition holds 20 GB ("Azure Cosmos DB service quotas"); its rate is one of request
/// units, so 10,000 a second of a physical partition are taken as 1 KiB point reads.
[[nodiscard]] constexpr service_targets cosmos_targets() noexcept {
    service_targets made;
    made.partition_rate = 10'000;
    made.account_rate = 1e9;
    made.partition_bytes = 20e9;
    return made;
}

ENTITABLE_END_NAMESPACE
