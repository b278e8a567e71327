// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Rows written on one line, for tests that work below the typed tables.

#include <entitable/core/row/row.hpp>

#include <initializer_list>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// A property of a row: `{"Age", 55}`, `{"Name", "John"}`, `{"Height", 1.8}`.
struct named_value {
    /// Copies the value.
    template <class T>
    named_value(std::string_view property, T const& content) : name(property), held(view_of(content)) {}

    std::string name; ///< property name as stored
    value held;       ///< value of the stored type

private:
    static value_view view_of(char const* text) { return std::string_view{text}; }
    static value_view view_of(std::string const& text) { return std::string_view{text}; }
    template <class T>
    static value_view view_of(T const& content) {
        return content;
    }
};

/// Returns a row with these properties.
[[nodiscard]] inline row make_row(
    std::string_view partition_key, std::string_view row_key, std::initializer_list<named_value> properties = {}) {
    row_builder builder{partition_key, row_key};
    for (named_value const& each : properties) { builder.add(each.name, each.held); }
    return builder.build();
}

} // namespace testing
ENTITABLE_END_NAMESPACE
