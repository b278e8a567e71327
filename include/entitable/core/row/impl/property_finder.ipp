// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/detail/payload.hpp>
#include <entitable/core/row/detail/property_finder.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY property_view const* property_finder::find(std::string_view name) {
    std::size_t steps = 0;
    for (property_cursor cursor = behind_; steps <= steps_left_ && cursor.next(found_); ++steps) {
        if (found_.name == name) {
            behind_ = cursor;
            return &found_;
        }
    }
    if (count_ > few) {
        steps_left_ -= (std::min)(steps, steps_left_);
        return find_in_table(name);
    }
    for (property_cursor cursor = ahead_; cursor.left() > behind_.left() && cursor.next(found_);) {
        if (found_.name == name) { return &found_; }
    }
    return nullptr;
}

ENTITABLE_LAZY_BODY std::optional<value_view> property_finder::value(std::string_view name) {
    property_view const* const found = find(name);
    return found != nullptr && found->present ? std::optional{found->value} : std::nullopt;
}

ENTITABLE_LAZY_BODY property_view const* property_finder::find_in_table(std::string_view name) {
    if (!has_table_) {
        has_table_ = true;
        walked_.reserve((std::min)(count_, payload_.size() / 3)); // each descriptor has three bytes or more
    }
    if (name_table::entry const* const known = walked_.find(name)) {
        property_cursor there = ahead_;
        there.descriptor_ = known->name - 3; // the name follows its type and its size
        there.values_ = payload_.data() + known->number;
        there.left_ = 1;
        return there.next(found_) ? &found_ : nullptr;
    }
    while (true) {
        auto const values_at = static_cast<std::size_t>(ahead_.values_ - payload_.data());
        if (!ahead_.next(found_)) { return nullptr; }
        walked_.add(found_.name, values_at);
        if (found_.name == name) { return &found_; }
    }
}

} // namespace detail

ENTITABLE_LAZY_BODY std::string merged_payload(std::string_view base, std::string_view change) {
    std::string descriptor;
    std::string values;
    std::uint16_t count = 0;
    detail::property_finder changes{row_view{{}, {}, change}};
    detail::property_finder old{row_view{{}, {}, base}};
    property_view property;
    // The old properties in their order, each with its new value if there is one; then the new properties.
    property_cursor kept{base};
    while (kept.next(property)) {
        if (!property.present) {
            continue; // if the change has a value, it comes with the new properties
        }
        if (auto const replacement = changes.value(property.name)) {
            property.value = *replacement;
            property.type = replacement->type();
        }
        detail::append_property(descriptor, values, property, false);
        ++count;
    }
    property_cursor added{change};
    while (added.next(property)) {
        if (property.present && !old.value(property.name)) {
            detail::append_property(descriptor, values, property, false);
            ++count;
        }
    }
    return detail::make_payload(count, descriptor, values);
}

ENTITABLE_END_NAMESPACE
