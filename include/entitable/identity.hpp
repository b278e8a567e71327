// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Tokens of Entra ID for the stores of Azure: `default_identity`, `managed_identity`, `workload_identity`, `client_secret`; and
/// `azure_stores` for `open`; the throughput of tables in Cosmos DB, `read_throughput`. Part of the
/// component of `entitable/azure.hpp`. That header does not include it, so that programs with keys do not compile it.

#include <entitable/cloud/identity/identity.hpp>
#include <entitable/cloud/rest/azure_address.hpp>
#include <entitable/cloud/rest/cosmos_throughput.hpp>
