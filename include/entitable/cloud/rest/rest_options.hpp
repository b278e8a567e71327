// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of a REST backend, for cases that the defaults do not fit.

#include <entitable/core/clock.hpp>
#include <entitable/core/decorators/retry_policy.hpp>
#include <entitable/core/request/profile.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a REST backend. Plain data.
struct rest_options {
    /// The profile of the service; by default the profile for the kind of address.
    std::optional<profile> limits{};
    /// Whether merges are sent as POST with `X-HTTP-Method: MERGE` instead of PATCH; by default only for Cosmos DB, which refuses PATCH
    /// (the other services accept both, except in the emulator's transactions).
    std::optional<bool> merge_by_post{};
    /// How long one attempt may take; after that it fails with TransportFailed. Zero: no limit other than the deadline of the call.
    std::chrono::milliseconds request_timeout{60'000};
    /// How long the service may work on one request (`timeout` in its address), in whole seconds; more than 30 counts as 30, the service's
    /// limit. If less time remains in the call or in `request_timeout`, the remaining time is sent, rounded up: the service stops less than
    /// a second after the caller. Zero sends no limit. It is never sent to Cosmos DB, which does not support it.
    std::chrono::seconds service_timeout{30};
    /// Repetitions of failed requests: reads, and writes that had no effect. A write whose response was lost is repeated only under
    /// `call::operation_id`; otherwise its error has an unknown effect, and `retrying` around the backend would repeat it. None of these
    /// repetitions under an explicit `retrying`, in bulk loads, and with `call_options::retry` off. `retry_policy::none()` turns them off.
    retry_policy retries{retry_policy::standard()};
    std::uint32_t retry_quota{100}; ///< as `retrying_options::quota`, for all copies of the backend
    std::size_t max_body_size{std::size_t{64} * 1024 * 1024}; ///< bytes of a response; TransportFailed if larger
    std::size_t max_header_size{std::size_t{64} * 1024};      ///< bytes of the header fields of a response
    clock* time{&system_clock()}; ///< dates the signatures, and measures attempts; must outlive the backend
    /// Cosmos DB: regions that serve the reads that may be stale (`call_options::location`), the preferred first: "West Europe", or the
    /// address of a regional host. Writes, and all other reads, go to the address of the account. InvalidInput for other services.
    std::vector<std::string> preferred_locations{};
};

ENTITABLE_END_NAMESPACE
