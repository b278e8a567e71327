// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Queues in Azure Queue Storage: `azure_queue`. Part of the component of `entitable/azure.hpp`. That header does not include it,
/// so that programs without queues do not compile it.

#include <entitable/work/storage_queue/azure_queue.hpp>
