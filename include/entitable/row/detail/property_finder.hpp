// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Finds many properties of one row by their names, in a time that is linear in the properties, whatever their order is.

#include <entitable/row/detail/name_table.hpp>
#include <entitable/row/row.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Answers as `row_view::find`, name after name; where the row has a name twice, either may be found. Most rows have their properties in the
/// order in which they are asked for, so each is searched from the one found last; after as many steps in vain as there are properties, in a
/// table. The bytes of the row must outlive it. One thread at a time.
class property_finder {
public:
    /// Of a row. Does nothing until it is asked.
    explicit property_finder(row_view in) noexcept
        : payload_(in.payload), behind_(in.payload), ahead_(behind_), count_(behind_.left()), steps_left_(count_) {}

    /// The property of that name, which may be absent; null when the row has none. Valid until the next call.
    ENTITABLE_LAZY [[nodiscard]] property_view const* find(std::string_view name);

    /// The value of that property; nothing when it is absent.
    ENTITABLE_LAZY [[nodiscard]] std::optional<value_view> value(std::string_view name) {
        property_view const* const found = find(name);
        return found != nullptr && found->present ? std::optional{found->value} : std::nullopt;
    }

private:
    static constexpr std::size_t few = 4; ///< properties that need no table

    ENTITABLE_LAZY [[nodiscard]] property_view const* find_in_table(std::string_view name);

    std::string_view payload_;
    property_cursor behind_; // the property that was found last in order
    property_cursor ahead_;  // behind what is in the table
    std::size_t count_;
    std::size_t steps_left_;
    bool has_table_{};
    property_view found_;
    name_table walked_; // with where the value stands in the payload
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/row/impl/property_finder.ipp>
#endif
