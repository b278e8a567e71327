// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Finds many properties of one row by their names, in a time that is linear in the properties, whatever their order is.

#include <entitable/row/detail/name_table.hpp>
#include <entitable/row/row.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Answers as `row_view::find`, name after name. Walks the row once: each question goes on as far as it needs, so that names which
/// are asked for in the order of the row cost one step each. The bytes of the row must outlive it. One thread at a time.
class property_finder {
public:
    /// Of a row. Does nothing until it is asked.
    explicit property_finder(row_view in) noexcept : payload_(in.payload), ahead_(in.payload) {}

    /// The first property of that name, absent ones included; null when the row has none. Valid until the next call.
    ENTITABLE_LAZY [[nodiscard]] property_view const* find(std::string_view name);

    /// The value of that property; nothing when it is absent.
    ENTITABLE_LAZY [[nodiscard]] std::optional<value_view> value(std::string_view name) {
        property_view const* const found = find(name);
        return found != nullptr && found->present ? std::optional{found->value} : std::nullopt;
    }

private:
    std::string_view payload_;
    bool begun_{};
    property_cursor ahead_;
    property_view found_;
    name_table walked_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/row/impl/property_finder.ipp>
#endif
