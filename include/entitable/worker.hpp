// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Workers for queues, on threads: `run_worker` claims messages, calls a function for each of them, renews, completes or fails them, and stops
/// gracefully. Part of the core. It includes `entitable/messaging.hpp`, which does not include this header, because threads cost compile
/// time.

#include <entitable/messaging.hpp>
#include <entitable/work/messaging/worker.hpp>
