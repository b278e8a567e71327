// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Settings of an account's table service as plain data (sources: "Set Table Service Properties", "Get Table Service Stats",
/// "Set Table ACL"), and their XML.

#include <entitable/core/date_time.hpp>
#include <entitable/core/result.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Which requests the service logs.
struct logging_settings {
    bool reads{};                                ///< queries and reads of one entity
    bool writes{};                               ///< inserts, updates and merges
    bool deletes{};                              ///< removals
    std::optional<std::uint32_t> retention_days; ///< 1 to 365; none keeps logs for ever
};

/// Which figures the service collects.
struct metrics_settings {
    bool enabled{};      ///< whether figures are collected at all
    bool include_apis{}; ///< figures of each kind of request, too; counts only where it is enabled
    std::optional<std::uint32_t> retention_days; ///< 1 to 365; none keeps figures for ever
};

/// One rule of cross-origin requests.
struct cors_rule {
    std::vector<std::string> allowed_origins; ///< "https://host", or "*"
    std::vector<std::string> allowed_methods; ///< of DELETE, GET, HEAD, MERGE, POST, OPTIONS, PUT
    std::vector<std::string> allowed_headers; ///< that a browser may send
    std::vector<std::string> exposed_headers; ///< that a browser may show
    std::chrono::seconds max_age{};           ///< how long a browser may keep the answer to a preflight
};

/// The settings of the service. One that is not given stays as it is.
struct service_properties {
    std::optional<logging_settings> logging;        ///< what is logged
    std::optional<metrics_settings> hour_metrics;   ///< figures of each hour
    std::optional<metrics_settings> minute_metrics; ///< figures of each minute
    std::optional<std::vector<cors_rule>> cors;     ///< at most 5; none at all removes them
};

/// The state of the copy at the secondary location.
struct service_statistics {
    /// Live: it follows the primary. Bootstrap: it is being filled. Unavailable: it cannot be read.
    enum class state : std::uint8_t {
        live,        ///< the secondary location can be read
        bootstrap,   ///< the first copy is being made
        unavailable, ///< there is none, or it does not answer
    };

    state replication{state::unavailable}; ///< its present state
    std::optional<date_time> last_sync;    ///< all writes before it can be read there
};

/// A policy that shared access signatures of a table name instead of terms of their own.
struct access_policy {
    std::string id;                  ///< 1 to 64 characters
    std::optional<date_time> start;  ///< none leaves it to the signature
    std::optional<date_time> expiry; ///< none leaves it to the signature
    std::string permissions;         ///< some of "raud", in this order; empty leaves them to the signature
};

namespace detail {

/// InvalidInput names the setting that is out of its bounds.
[[nodiscard]] result<std::string> write_xml(service_properties const& properties);
[[nodiscard]] result<std::string> write_xml(std::vector<access_policy> const& policies);

/// TransportFailed when the text is not that.
[[nodiscard]] result<service_properties> read_properties(std::string_view xml);
[[nodiscard]] result<service_statistics> read_statistics(std::string_view xml);
[[nodiscard]] result<std::vector<access_policy>> read_policies(std::string_view xml);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/account/impl/service_settings.ipp>
#endif
