// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A local table that works offline and synchronises with a table in the cloud: `synchronize`. Part of the core. The core umbrella does not
/// include it, so that other programs do not compile it.

#include <entitable/work/sync/receipts.hpp>
#include <entitable/work/sync/synchronize.hpp>
