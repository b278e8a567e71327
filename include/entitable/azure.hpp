// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Tables on Azure: the backend, credentials, the HTTP client. Needs libcurl 7.87 or later, OpenSSL and simdjson. With separate compilation
/// they are compiled once, in the file that includes `entitable/azure/src.hpp`.

#include <entitable/account/connection_string.hpp>
#include <entitable/account/sas.hpp>
#include <entitable/http/curl_client.hpp>
#include <entitable/rest/azure_backend.hpp>
#include <entitable/rest/azure_service.hpp>
