// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The throughput of a table in Cosmos DB, as the service reports it: `read_throughput` asks the resource provider, `count_partitions` counts the
/// ranges of keys. The table service itself reports neither. Both are inputs of `plan_throughput`.
///
///     auto const now = read_throughput({"SUBSCRIPTION", "shop-group", "shop", "orders"}, default_identity());
///     plan_throughput({.instant_maximum = now.value().instant_maximum, .desired = 150'000});

#include <entitable/cloud/identity/identity.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// The location of a table in the resource provider.
struct cosmos_resource {
    std::string subscription;                             ///< id of the subscription
    std::string resource_group;                           ///< group of the account
    std::string account;                                  ///< name of the account
    std::string table;                                    ///< name of the table
    std::string endpoint{"https://management.azure.com"}; ///< address of the resource provider, for other clouds; https
    std::string api_version{"2024-05-15"};                ///< version of the provider's interface
};

/// The provisioned request units a second (RU/s) of a table.
struct provisioned_throughput {
    double units{};             ///< manual RU/s; 0 with autoscale
    double autoscale_maximum{}; ///< maximum of autoscale; 0 with manual throughput
    double minimum{};           ///< lowest RU/s that can be set; 0 if it is not reported
    double instant_maximum{};   ///< RU/s up to which no partition is split; 0 if it is not reported
    double allowed_maximum{};   ///< highest RU/s that can be set without support; 0 if it is not reported
    bool pending{};             ///< whether a change is in progress
};

/// Options of both calls.
struct cosmos_read_options {
    token_http send{};                ///< sends the requests; if empty, libcurl
    http_call limits{};               ///< limits of each request
    clock* time{&system_clock()};     ///< dates the requests; must outlive the call
    std::string database{"TablesDB"}; ///< for `count_partitions`: the database that the service has for tables
};

/// Reads the throughput of a table from the resource provider. The identity needs to read the account: the role `Reader`. Cost: one request; nothing
/// is repeated.
///
/// Errors: InvalidInput names a part of the location that is missing or has other characters than letters, digits, "-", "_", "." and
/// parentheses, or an address without https; ResourceNotFound if the table does not exist or has no throughput of its own, as in a serverless
/// account; AuthenticationFailed, AuthorizationFailure, ServerBusy, TransportFailed; those of the identity.
[[nodiscard]] result<provisioned_throughput> read_throughput(
    cosmos_resource const& of, identity const& who, cosmos_read_options const& options = {});

/// Counts the physical partitions of a table by its ranges of keys. `endpoint` is the account's address for documents, such as
/// "https://shop.documents.azure.com", not that for tables; `key` an account key, also a read-only key. Ranges that were split and are still
/// reported do not count. Cost: a request for each page of ranges; nothing is repeated.
///
/// Errors: InvalidInput if `key` is not an account key or `endpoint` is not https; ResourceNotFound if the table does not exist;
/// AuthenticationFailed, AuthorizationFailure, ServerBusy, TransportFailed.
[[nodiscard]] result<std::uint64_t> count_partitions(
    std::string_view endpoint, credential const& key, std::string_view table, cosmos_read_options const& options = {});

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/rest/impl/cosmos_throughput.ipp>
#endif
