// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `stored_property`: name and type of a property as rows store it.

#include <entitable/core/row/format.hpp>

#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// A property of the rows of an entity type.
struct stored_property {
    std::string name; ///< name in the rows
    edm_type type{};  ///< type in the rows
    bool nullable{};  ///< whether a row may lack its value

    friend bool operator==(stored_property const&, stored_property const&) = default;
};

namespace detail {

/// Returns the properties of a descriptor (`row_format`), which must be complete.
[[nodiscard]] inline std::vector<stored_property> properties_of_descriptor(std::string_view descriptor) {
    std::vector<stored_property> made;
    for (std::size_t at = 0; at + 3 <= descriptor.size();) {
        auto const kind = static_cast<unsigned char>(descriptor[at]);
        auto const size = row_format::load<std::uint16_t>(descriptor.data() + at + 1);
        made.push_back({std::string{descriptor.substr(at + 3, size)},
            static_cast<edm_type>(kind & ~row_format::nullable_bit), (kind & row_format::nullable_bit) != 0});
        at += std::size_t{3} + size;
    }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
