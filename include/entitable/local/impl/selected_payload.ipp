// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/requests.hpp>
#include <entitable/core/row/detail/payload.hpp>
#include <entitable/core/row/row.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether no property is selected, only keys.
ENTITABLE_LAZY bool selects_only_keys(projection const& names) {
    for (std::string const& name : names) {
        if (name != "PartitionKey" && name != "RowKey") { return false; }
    }
    return !names.empty();
}

/// Returns a payload with only the named properties, each once and in the order of the row. Absent properties are omitted: the service
/// sends null for them, which is equivalent.
ENTITABLE_LAZY std::string selected_payload(std::string_view whole, projection const& names) {
    std::string descriptor;
    std::string values;
    std::uint16_t count = 0;
    property_cursor cursor{selects_only_keys(names) ? std::string_view{} : whole};
    property_view property;
    while (cursor.next(property)) {
        bool wanted = false;
        for (std::string const& name : names) { wanted = wanted || name == property.name; }
        if (wanted && property.present) {
            append_property(descriptor, values, property, false);
            ++count;
        }
    }
    std::string payload = make_payload(count, descriptor, values);
    set_timestamp(payload, row_view{{}, {}, whole}.timestamp());
    return payload;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
