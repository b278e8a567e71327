// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Many stores looked after as one: `fleet`. Part of the core, but not of its umbrella, so that programs without fleets do not compile it.

#include <entitable/fleet/balance.hpp>
#include <entitable/fleet/fleet.hpp>
#include <entitable/fleet/fleet_audit.hpp>
#include <entitable/fleet/fleet_backup.hpp>
#include <entitable/fleet/fleet_check.hpp>
#include <entitable/fleet/fleet_ranges.hpp>
#include <entitable/fleet/place.hpp>
#include <entitable/fleet/placement_rules.hpp>
#include <entitable/fleet/rebalance.hpp>
#include <entitable/fleet/reference_table.hpp>
#include <entitable/fleet/store_access.hpp>
#include <entitable/shards.hpp>
