// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/entity.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY entity::entity(row_view row)
    : partition_key_(row.partition_key), row_key_(row.row_key), etag_(row.etag()), timestamp_(row.timestamp()) {
    property_cursor cursor{row.payload};
    properties_.reserve(cursor.left());
    property_view next;
    while (cursor.next(next)) {
        if (next.present) {
            property& copy = properties_.emplace_back();
            copy.name = next.name;
            copy.value.assign(next.value);
        }
    }
}

ENTITABLE_LAZY_BODY value const* entity::find(std::string_view name) const noexcept {
    for (property const& known : properties_) {
        if (known.name == name) { return &known.value; }
    }
    return nullptr;
}

ENTITABLE_LAZY_BODY entity& entity::set_value(std::string_view name, value_view given) {
    for (property& known : properties_) {
        if (known.name == name) {
            known.value.assign(given);
            return *this;
        }
    }
    properties_.push_back({std::string{name}, given});
    return *this;
}

ENTITABLE_LAZY_BODY bool entity::erase(std::string_view name) {
    for (std::size_t index = 0; index < properties_.size(); ++index) {
        if (properties_[index].name == name) {
            for (; index + 1 < properties_.size(); ++index) { properties_[index] = std::move(properties_[index + 1]); }
            properties_.pop_back();
            return true;
        }
    }
    return false;
}

ENTITABLE_LAZY_BODY row entity::to_row() const {
    row_builder builder{partition_key_, row_key_};
    for (property const& each : properties_) { builder.add(each.name, each.value.view()); }
    return builder.build();
}

ENTITABLE_LAZY_BODY failure entity::no_property(std::string_view name, error_code why) {
    return failure{why,
        text::joined(
            {"the entity has no property \"", name, (why == error_code::row_mismatch ? "\" of that type" : "\"")})};
}

ENTITABLE_END_NAMESPACE
