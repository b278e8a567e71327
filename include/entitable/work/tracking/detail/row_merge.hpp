// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The changes between two rows of one entity type, and their application to a third row.

#include <entitable/core/row/row.hpp>

#include <span>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether two rows have the same properties, byte for byte. Ignores the Timestamp.
[[nodiscard]] inline bool same_stored_bytes(std::string_view one, std::string_view other) noexcept {
    using namespace row_format;
    return one.size() == other.size() && one.size() >= header_size &&
        std::memcmp(one.data(), other.data(), timestamp_offset) == 0 &&
        std::memcmp(one.data() + header_size, other.data() + header_size, one.size() - header_size) == 0;
}

/// The changed properties of an entity: present with their values, or absent.
struct property_changes {
    std::vector<property_view> changed; ///< references to both rows
    bool removes{};                     ///< whether a property became absent
};

/// Returns the differences of two rows of one type.
[[nodiscard]] property_changes changes_between(row_view before, row_view now);

/// The current and the former name of a property.
struct renamed_property {
    std::string_view name;
    std::string_view former;
};
/// Makes the changes move these properties to their current names: a merge would leave the former ones.
void add_renames(property_changes& changes, row_view now, std::span<renamed_property const> renamed);

/// Returns the row with the changes applied: values set, absent properties removed.
[[nodiscard]] row with_changes(row_view stored, property_changes const& changes);

/// Returns a row with only the changed values, for a merge.
[[nodiscard]] row changes_alone(row_view keys, property_changes const& changes);

/// Returns the changed properties whose value in `theirs` differs from `original` and from the changed value.
[[nodiscard]] std::vector<std::string> changed_by_both(
    property_changes const& mine, row_view original, row_view theirs);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/tracking/impl/row_merge.ipp>
#endif
