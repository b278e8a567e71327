// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Azure Table Storage, Cosmos DB's Table API and the emulator: `azure_backend`, and `rest` over a user-supplied HTTP client. Needs libcurl
/// 7.87 or later, OpenSSL and simdjson. With separate compilation its bodies are in `entitable/azure/src.hpp`.

#include <entitable/account/connection_string.hpp>
#include <entitable/account/sas.hpp>
#include <entitable/http/curl_client.hpp>
#include <entitable/rest/azure_backend.hpp>
#include <entitable/rest/azure_service.hpp>
