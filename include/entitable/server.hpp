// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The service's REST protocol over any store, as a function from request to response: `table_server`. Has the requirements of
/// `entitable/azure.hpp`. With separate compilation its bodies are in `entitable/src/server.hpp`.

#include <entitable/serve/server/server_options.hpp>
#include <entitable/serve/server/table_server.hpp>
#include <entitable/serve/server/token_check.hpp>
