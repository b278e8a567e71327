// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Work that spans partitions and is never forgotten: queues and sagas. Part of the core, but not of its umbrella, so that programs without
/// them do not compile it.

#include <entitable/messaging/keep_alive.hpp>
#include <entitable/messaging/saga.hpp>
#include <entitable/messaging/table_queue.hpp>
