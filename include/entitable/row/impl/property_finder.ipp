// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/row/detail/property_finder.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY property_view const* property_finder::find(std::string_view name) {
    if (!begun_) {
        begun_ = true;
        walked_.reserve((std::min)(ahead_.left(), payload_.size() / 3)); // each is described by three bytes or more
    }
    if (name_table::entry const* const known = walked_.find(name)) {
        property_cursor there = ahead_;
        there.descriptor_ = known->name - 3; // behind its type and its size
        there.values_ = payload_.data() + known->number;
        there.left_ = 1;
        return there.next(found_) ? &found_ : nullptr;
    }
    while (true) {
        auto const values_at = static_cast<std::size_t>(ahead_.values_ - payload_.data());
        if (!ahead_.next(found_)) {
            return nullptr;
        }
        walked_.add(found_.name, values_at);
        if (found_.name == name) {
            return &found_;
        }
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
