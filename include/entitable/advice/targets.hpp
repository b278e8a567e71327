// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `service_targets`: the published targets of a service, and the further assumptions of the advice's cost model.

#include <entitable/core/config.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE

/// Targets of a service, and the model of a query's cost. The targets are published ("Scalability and performance targets for Table
/// storage"); the two times are not: they are assumptions for ranking designs; a stress test measures the real values.
struct service_targets {
    double partition_rate{2'000};      ///< entities a second of one partition (500 in the first edition of the page)
    double account_rate{20'000};       ///< entities a second of one account
    double partition_bytes{};          ///< maximum bytes of one partition; 0: no separate limit
    std::uint32_t page_rows{1'000};    ///< maximum entities in one response
    std::uint32_t batch_rows{100};     ///< maximum entities in one transaction
    double seconds_per_request{0.005}; ///< assumed: one request and its response
    double seconds_per_row{20e-6};     ///< assumed: one entity that the service examines
};

/// Azure Table Storage.
[[nodiscard]] constexpr service_targets storage_targets() noexcept { return {}; }
/// The Table API of Cosmos DB: a logical partition holds 20 GB ("Azure Cosmos DB service quotas"); its rate is in request units, so the
/// 10,000 request units a second of a physical partition are counted as point reads of 1 KiB.
[[nodiscard]] constexpr service_targets cosmos_targets() noexcept {
    service_targets made;
    made.partition_rate = 10'000;
    made.account_rate = 1e9;
    made.partition_bytes = 20e9;
    return made;
}

ENTITABLE_END_NAMESPACE
