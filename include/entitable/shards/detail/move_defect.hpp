// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Mistakes that a test has a move make, to see that they are found. Programs have no way to them.

#include <entitable/core/config.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What a move does wrong.
enum class move_defect : std::uint8_t {
    none,
    waits_for_no_lease,   ///< goes on as soon as the map is changed
    flips_unverified,     ///< goes from the first copy to the flip
    drops_first,          ///< drops the source before the flip
    drops_before_collect, ///< drops the source before the last catch-up
    leaves_removed_rows,  ///< catches up without removals
    trusts_timestamps,    ///< takes a row for changed when its Timestamp is later than all it saw
    collects_once,        ///< flips behind the collect of draining
    never_seals,          ///< lets clients read at the source up to the flip
    guards_nothing,       ///< writes batches without their guard row
};

} // namespace detail
ENTITABLE_END_NAMESPACE
