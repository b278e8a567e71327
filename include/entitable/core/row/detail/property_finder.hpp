// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Finds many properties of one row by name, in time linear in the number of properties, in any order.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/row/detail/name_table.hpp>
#include <entitable/core/row/row.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Finds properties by name, one lookup after another, as `row_view::find` does. If a name occurs twice in the row, it may find either.
/// Most rows have their properties in the order of the lookups, so each search starts after the previous hit; after as many failed steps as
/// there are properties, it uses a table. The bytes of the row must outlive it. Used by one thread at a time.
class property_finder {
public:
    /// Makes a finder for a row; does no work before the first lookup.
    explicit property_finder(row_view in) noexcept
        : payload_(in.payload), behind_(in.payload), ahead_(behind_), count_(behind_.left()), steps_left_(count_) {}

    /// Returns the property of that name, which may be absent; null if the row does not have it. Valid until the next call.
    ENTITABLE_LAZY [[nodiscard]] property_view const* find(std::string_view name);

    /// Returns the value of that property; nullopt if it is absent.
    ENTITABLE_LAZY [[nodiscard]] std::optional<value_view> value(std::string_view name);

private:
    static constexpr std::size_t few = 4; ///< properties that need no table

    ENTITABLE_LAZY [[nodiscard]] property_view const* find_in_table(std::string_view name);

    std::string_view payload_;
    property_cursor behind_; // the latest property found in order
    property_cursor ahead_;  // position after the properties in the table
    std::size_t count_;
    std::size_t steps_left_;
    bool has_table_{};
    property_view found_;
    name_table walked_; // names, with the position of each value in the payload
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/row/impl/property_finder.ipp>
#endif

#endif
