// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The passes of a move over the rows of its shard, in order. `shard_mover` runs them, and `move_plan::to_string` adds up their cost.

#include <entitable/shards/move/detail/shard_table_copy.hpp>
#include <entitable/shards/move/move_options.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A pass over the rows of all tables.
struct move_phase {
    move_step step; ///< the step that watchers see
    copy_pass pass;
    bool off_line;   ///< whether an offline move includes it
    bool is_drained; ///< writes are refused
    bool is_sealed;  ///< reads are refused as well

    [[nodiscard]] constexpr bool keys_only() const noexcept {
        return pass == copy_pass::catch_up || pass == copy_pass::collect;
    }
};

namespace move_phases {

inline constexpr move_phase copying{move_step::copying, copy_pass::whole, true, false, false};
inline constexpr move_phase catching_up{move_step::catching_up, copy_pass::catch_up, true, false, false};
inline constexpr move_phase verifying{move_step::verifying, copy_pass::verify, true, false, false};
inline constexpr move_phase closed{move_step::catching_up, copy_pass::catch_up, false, false, false};
inline constexpr move_phase drained{move_step::draining, copy_pass::catch_up, false, true, false};
inline constexpr move_phase sealed{move_step::sealing, copy_pass::catch_up, true, true, true};
inline constexpr move_phase collecting{move_step::sealing, copy_pass::collect, true, true, true};

inline constexpr move_phase all[] = {copying, catching_up, verifying, closed, drained, sealed, collecting};

/// Returns the number of phases with a property.
template <class Has>
[[nodiscard]] constexpr std::uint64_t count(Has const& has) {
    std::uint64_t number = 0;
    for (move_phase const& each : all) { number += has(each) ? 1 : 0; }
    return number;
}

} // namespace move_phases

} // namespace detail
ENTITABLE_END_NAMESPACE
