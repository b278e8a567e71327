// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `azure_backend`: the table service of Azure, in the cloud or emulated, through libcurl.

#include <entitable/cloud/http/curl_client.hpp>
#include <entitable/cloud/rest/rest_backend.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Tables of an Azure Storage account, of Cosmos DB or of the emulator: `azure_backend store{connection_string}`. A cheap handle: copies
/// share the connections. Thread safety: safe to use from several threads. See `rest`.
using azure_backend = rest<curl_client>;

#if defined(ENTITABLE_SEPARATE_COMPILATION)
// These are compiled once, with entitable/src/azure.hpp.
extern template class rest<curl_client>;
extern template detail::transport_interface* detail::make_model(rest<curl_client> const&);
#endif

ENTITABLE_END_NAMESPACE
