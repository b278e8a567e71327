// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `was_beaten`: whether a change was refused because another writer was faster. `is_absent`: whether there is no such row or table.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/result.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What another writer may have done to a row, between its read and a change that relies on the read.
enum class rival_change : std::uint8_t {
    any,                ///< changed, removed or inserted it
    changed_or_removed, ///< the row was there
    changed_or_inserted ///< nobody removes the row
};

/// Whether a store refused a change because another writer was faster. Considers only the code: the caller checks the effect.
[[nodiscard]] constexpr bool was_beaten(error_code refused, rival_change by = rival_change::any) noexcept {
    switch (refused) {
        case error_code::update_condition_not_satisfied: return true;
        case error_code::resource_not_found: return by != rival_change::changed_or_inserted;
        case error_code::entity_already_exists: return by != rival_change::changed_or_removed;
        default: return false;
    }
}
[[nodiscard]] inline bool was_beaten(error const& refused, rival_change by = rival_change::any) noexcept {
    return was_beaten(refused.code, by);
}

/// Whether the row or its table does not exist. Some services return ResourceNotFound for a missing table.
[[nodiscard]] inline bool is_absent(error const& why) noexcept {
    return why.code == error_code::resource_not_found || why.code == error_code::table_not_found;
}
template <class T>
[[nodiscard]] bool is_absent(result<T> const& answered) noexcept {
    return !answered && is_absent(answered.error());
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
