// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Settings of an account's table service as plain data (sources: "Set Table Service Properties", "Get Table Service Stats", "Set Table
/// ACL"), and their XML.

#include <entitable/core/date_time.hpp>
#include <entitable/core/result.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The requests that the service logs.
struct logging_settings {
    bool reads{};                                ///< queries and reads of one entity
    bool writes{};                               ///< inserts, updates and merges
    bool deletes{};                              ///< removals
    std::optional<std::uint32_t> retention_days; ///< 1 to 365; if absent, logs are kept forever
};

/// The metrics that the service collects.
struct metrics_settings {
    bool enabled{};                              ///< whether metrics are collected
    bool include_apis{};                         ///< whether to include each kind of request; only if enabled
    std::optional<std::uint32_t> retention_days; ///< 1 to 365; if absent, metrics are kept forever
};

/// One CORS rule (for cross-origin requests).
struct cors_rule {
    std::vector<std::string> allowed_origins; ///< "https://host", or "*"
    std::vector<std::string> allowed_methods; ///< some of DELETE, GET, HEAD, MERGE, POST, OPTIONS, PUT
    std::vector<std::string> allowed_headers; ///< header fields that a browser may send
    std::vector<std::string> exposed_headers; ///< header fields that a browser may expose
    std::chrono::seconds max_age{};           ///< how long a browser may cache the response to a preflight
};

/// The settings of the service. Omitted settings are not changed.
struct service_properties {
    std::optional<logging_settings> logging;        ///< the logged requests
    std::optional<metrics_settings> hour_metrics;   ///< hourly metrics
    std::optional<metrics_settings> minute_metrics; ///< minute metrics
    std::optional<std::vector<cors_rule>> cors;     ///< at most 5; an empty list removes them
};

/// The state of the copy at the secondary location.
struct service_statistics {
    /// The state of replication.
    enum class state : std::uint8_t {
        live,        ///< the secondary location can be read
        bootstrap,   ///< the first copy is being made
        unavailable, ///< there is no secondary location, or it does not respond
    };

    state replication{state::unavailable}; ///< its current state
    std::optional<date_time> last_sync;    ///< all writes before this time can be read at the secondary location

    /// Returns how old an answer of the secondary location may be at a time of the service's clock; nullopt if that has no bound, because the
    /// first copy is being made, or the time of the last synchronization is unknown.
    [[nodiscard]] std::optional<std::chrono::seconds> staleness(date_time now) const noexcept {
        constexpr std::int64_t second = date_time::ticks_per_second;
        if (replication == state::bootstrap || !last_sync) { return std::nullopt; }
        std::int64_t const ticks = now.ticks - last_sync->ticks;
        return std::chrono::seconds{ticks <= 0 ? 0 : (ticks + second - 1) / second};
    }
};

/// A policy that shared access signatures of a table can refer to instead of containing the terms.
struct access_policy {
    std::string id;                  ///< 1 to 64 characters
    std::optional<date_time> start;  ///< if absent, the signature determines it
    std::optional<date_time> expiry; ///< if absent, the signature determines it
    std::string permissions;         ///< some of "raud", in this order; empty leaves them to the signature
};

namespace detail {

/// Errors: InvalidInput names the setting that is out of range.
[[nodiscard]] result<std::string> write_xml(service_properties const& properties);
[[nodiscard]] result<std::string> write_xml(std::vector<access_policy> const& policies);

/// Errors: TransportFailed if the text is malformed.
[[nodiscard]] result<service_properties> read_properties(std::string_view xml);
[[nodiscard]] result<service_statistics> read_statistics(std::string_view xml);
[[nodiscard]] result<std::vector<access_policy>> read_policies(std::string_view xml);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/account/impl/service_settings.ipp>
#endif
