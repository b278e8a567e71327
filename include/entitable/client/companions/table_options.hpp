// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of a table that maintains indexes or sums.

#include <entitable/client/companions/index/index_options.hpp>
#include <entitable/core/request/call.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a table that maintains indexes or sums: those of its calls, and those of its writes.
struct table_options : index_options {
    call_options calls{}; ///< options of each call
};

ENTITABLE_END_NAMESPACE
