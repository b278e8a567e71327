// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Queues and sagas for work that spans partitions: `table_queue`, `saga_for`. Part of the core. The core umbrella does not include
/// it, so that other programs do not compile it.

#include <entitable/work/messaging/lease_renewal.hpp>
#include <entitable/work/messaging/saga.hpp>
#include <entitable/work/messaging/table_queue.hpp>
