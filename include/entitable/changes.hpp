// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The change log of a table: `logged`, `changes_of`, `trim_changes`. Part of the core.

#include <entitable/client/companions/changes_of.hpp>
#include <entitable/tables.hpp>
