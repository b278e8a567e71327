// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/detail/value_reader.hpp>
#include <entitable/core/text.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY failure row_is_damaged(std::string_view entity) {
    return failure{error_code::row_malformed,
        text::joined({"the stored bytes of an entity ", entity, " are not a complete row of version 1"})};
}

/// `stored`: type of the property in the row, if it is known.
ENTITABLE_LAZY failure property_mismatch(
    std::string_view entity, std::string_view name, bool is_absent, std::optional<edm_type> stored = std::nullopt) {
    std::string_view const type = stored ? to_string(*stored) : std::string_view{};
    return failure{error_code::row_mismatch,
        text::joined({"a row does not fit the entity ", entity, ": its property \"", name, "\" ",
            (is_absent ? "is absent; make the member a std::optional to allow that"
                       : "has a different type than the member, or a value that the member cannot hold"),
            (type.empty() ? "" : "; it is stored as "), type})};
}

ENTITABLE_LAZY_BODY void value_reader::take(
    value_target const& target, described_property property, std::size_t index) {
    edm_type const type = property.type;
    std::size_t const size = row_format::fixed_size(type);
    bool const present = !property.nullable || take_presence(size);
    value_view value;
    if (!present) {
        // no value is stored
    } else if (row_format::has_length(type)) {
        value.assign(type, take_bytes());
    } else {
        if (type == edm_type::guid) {
            value.assign(type, std::string_view{at_, size});
        } else if (type == edm_type::boolean) {
            value.assign(type, *at_ != 0 ? 1 : 0);
        } else if (type == edm_type::int32) {
            value.assign(type, row_format::load<std::int32_t>(at_));
        } else {
            value.assign(type, row_format::load<std::int64_t>(at_));
        }
        at_ += size;
    }
    if (!damaged_ && !target.take(target.to, present ? &value : nullptr) && offender_ == none) {
        offender_ = index;
        offending_ = type;
    }
}

ENTITABLE_LAZY_BODY failure value_reader::problem(std::string_view const* names, std::string_view entity) const {
    return damaged_ || spare_ != 0 ? row_is_damaged(entity)
                                   : property_mismatch(entity, names[offender_], false, offending_);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
