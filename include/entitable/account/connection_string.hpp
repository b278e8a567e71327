// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Connection strings: an endpoint and a credential in one line of text, as the portal gives it.

#include <entitable/account/credential.hpp>
#include <entitable/account/endpoint.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// What a connection string says.
struct connection_settings {
    entitable::endpoint endpoint;     ///< where the service is
    entitable::credential credential; ///< how requests are authorized
};

/// Reads a connection string: pairs of name and value separated by ";". Names have no case; blanks and line ends around both are ignored
/// (source: the service's "Configure connection strings").
///
/// Names: AccountName, AccountKey, DefaultEndpointsProtocol (https unless it says http), EndpointSuffix (core.windows.net),
/// TableEndpoint, TableSecondaryEndpoint, SharedAccessSignature, UseDevelopmentStorage=true with DevelopmentStorageProxyUri; for queues
/// QueueEndpoint and QueueSecondaryEndpoint in place of those of the tables. AccountKeyName and the endpoints of other services are
/// ignored.
///
/// Errors: InvalidInput names the field and never shows a value: a name that is missing, unknown or there twice, a pair without "=",
/// quotes, a line end inside a value, a connection string of Cosmos DB's SQL API, a key that is not base64, a key and a signature
/// together, neither of them, an endpoint as in `endpoint::parse`.
[[nodiscard]] result<connection_settings> parse_connection_string(
    std::string_view text, account_service of = account_service::tables);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/account/impl/connection_string.ipp>
#endif
