// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Operation of many stores as one, with checks, moves and backups: `fleet`, `plan_rebalance`, `back_up`. Part of the core. The
/// core umbrella does not include it, so that other programs do not compile it.

#include <entitable/fleet/balance.hpp>
#include <entitable/fleet/fleet.hpp>
#include <entitable/fleet/fleet_audit.hpp>
#include <entitable/fleet/fleet_backup.hpp>
#include <entitable/fleet/fleet_check.hpp>
#include <entitable/fleet/fleet_ranges.hpp>
#include <entitable/fleet/lost_stores.hpp>
#include <entitable/fleet/misplaced_rows.hpp>
#include <entitable/fleet/place.hpp>
#include <entitable/fleet/rebalance.hpp>
#include <entitable/fleet/reference_table.hpp>
#include <entitable/fleet/store_access.hpp>
#include <entitable/shards.hpp>
