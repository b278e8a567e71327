// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Connection strings: an endpoint and a credential in one line of text, as shown in the portal.

#include <entitable/cloud/account/credential.hpp>
#include <entitable/cloud/account/endpoint.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The settings in a connection string.
struct connection_settings {
    entitable::endpoint endpoint;     ///< the address of the service
    entitable::credential credential; ///< authorizes the requests
};

/// Parses a connection string: pairs of name and value separated by ";". Names are case-insensitive; blanks and line ends around names
/// and values are ignored (source: the service's "Configure connection strings").
///
/// Names: AccountName, AccountKey, DefaultEndpointsProtocol (default: https), EndpointSuffix (core.windows.net), TableEndpoint,
/// TableSecondaryEndpoint, SharedAccessSignature, UseDevelopmentStorage=true with DevelopmentStorageProxyUri; for queues QueueEndpoint and
/// QueueSecondaryEndpoint instead of those of the tables. AccountKeyName and the endpoints of other services are ignored.
///
/// Errors: InvalidInput names the field and never includes a value: a missing, unknown or duplicate name, a pair without "=", quotes, a
/// line end inside a value, a connection string of Cosmos DB's SQL API, a key that is not base64, both a key and a signature, neither a
/// key nor a signature, an endpoint as in `endpoint::parse`.
[[nodiscard]] result<connection_settings> parse_connection_string(
    std::string_view text, account_service of = account_service::tables);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/account/impl/connection_string.ipp>
#endif
