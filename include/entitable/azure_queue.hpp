// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Queues on Azure. Part of the component of `entitable/azure.hpp`, and apart from it so that programs without queues do not compile them.

#include <entitable/storage_queue/azure_queue.hpp>
