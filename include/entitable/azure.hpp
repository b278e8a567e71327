// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Azure Table Storage, Cosmos DB's Table API and the emulator: `azure_backend`, and `rest` over your own HTTP client. Needs libcurl 7.87
/// or later, OpenSSL and simdjson. With separate compilation its bodies are in `entitable/src/azure.hpp`.

#include <entitable/cloud/account/connection_string.hpp>
#include <entitable/cloud/account/sas.hpp>
#include <entitable/cloud/http/curl_client.hpp>
#include <entitable/cloud/rest/azure_backend.hpp>
#include <entitable/cloud/rest/azure_service.hpp>
#include <entitable/cloud/wire/filter_text.hpp>
