// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What was changed between two rows of one entity type, and how it is laid over a third one.

#include <entitable/row/row.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether two rows have the same properties in the same bytes. The Timestamp does not count.
[[nodiscard]] inline bool same_stored_bytes(std::string_view one, std::string_view other) noexcept {
    using namespace row_format;
    return one.size() == other.size() && one.size() >= header_size &&
        std::memcmp(one.data(), other.data(), timestamp_offset) == 0 &&
        std::memcmp(one.data() + header_size, other.data() + header_size, one.size() - header_size) == 0;
}

/// The changed properties of an entity: present with their values, or absent.
struct property_changes {
    std::vector<property_view> changed; ///< by reference to both rows
    bool removes{};                     ///< one of them became absent
};

/// What differs between two rows of one type.
[[nodiscard]] property_changes changes_between(row_view before, row_view now);

/// The row with changes laid over it: values put in, absent ones taken out.
[[nodiscard]] row with_changes(row_view stored, property_changes const& changes);

/// A row that has the changed values only, for a merge.
[[nodiscard]] row changes_alone(row_view keys, property_changes const& changes);

/// The changed properties that have another value in `theirs` than in `original`, and another one than they were changed to.
[[nodiscard]] std::vector<std::string> changed_by_both(
    property_changes const& mine, row_view original, row_view theirs);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/tracking/impl/row_merge.ipp>
#endif
