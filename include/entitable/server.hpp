// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Tables served: any transport behind the REST protocol of the table service, as a function from request to response. Needs what
/// `entitable/azure.hpp` needs. With separate compilation the bodies are in `entitable/server/src.hpp`.

#include <entitable/server/server_options.hpp>
#include <entitable/server/table_server.hpp>
