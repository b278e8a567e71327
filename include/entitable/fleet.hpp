// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Operating many stores as one, with checks, moves and backups: `fleet`, `plan_rebalance`, `back_up`. Part of the core. The
/// core umbrella does not include it, so that other programs do not compile it.

#include <entitable/shards.hpp>
#include <entitable/shards/fleet/balance.hpp>
#include <entitable/shards/fleet/fleet.hpp>
#include <entitable/shards/fleet/fleet_audit.hpp>
#include <entitable/shards/fleet/fleet_backup.hpp>
#include <entitable/shards/fleet/fleet_check.hpp>
#include <entitable/shards/fleet/lost_stores.hpp>
#include <entitable/shards/fleet/rebalance.hpp>
#include <entitable/shards/fleet/reference_table.hpp>
