// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/mapping/codec.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY row encode_row(std::string_view partition_key, std::string_view row_key,
    std::string_view descriptor, nullable_view const* values, std::size_t count) {
    std::size_t size = partition_key.size() + row_key.size() + row_format::header_size + descriptor.size();
    for (std::size_t index = 0; index < count; ++index) {
        nullable_view const& value = values[index];
        size += value.nullable ? 1U : 0U;
        if (value.present) {
            edm_type const type = value.value.type();
            size += row_format::fixed_size(type) + (row_format::has_length(type) ? value.value.bytes().size() : 0U);
        }
    }
    std::string block;
    block.reserve(size);
    block.append(partition_key).append(row_key);
    char header[row_format::header_size] = {static_cast<char>(row_format::version)};
    row_format::store(header + 2, static_cast<std::uint16_t>(count));
    row_format::store(header + 4, static_cast<std::uint32_t>(descriptor.size()));
    block.append(header, sizeof header).append(descriptor);
    for (std::size_t index = 0; index < count; ++index) {
        nullable_view const& value = values[index];
        if (value.nullable) {
            block += static_cast<char>(value.present ? 1 : 0);
        }
        if (!value.present) {
            continue;
        }
        char bytes[8];
        edm_type const type = value.value.type();
        std::string_view const content = value.value.bytes();
        if (row_format::has_length(type)) {
            row_format::store(bytes, static_cast<std::uint32_t>(content.size()));
            block.append(bytes, 4).append(content);
        } else if (type == edm_type::guid) {
            block.append(content);
        } else {
            // Numbers are kept sign-extended in eight bytes; the low ones are the stored ones.
            row_format::store(bytes, value.value.bits());
            block.append(bytes, row_format::fixed_size(type));
        }
    }
    return row{std::move(block), partition_key.size(), row_key.size()};
}

ENTITABLE_LAZY_BODY row_decoder::row_decoder(row_view row, std::string_view descriptor, reading mode) noexcept
    : row_(row), mode_(mode) {
    std::string_view const payload = row.payload;
    std::size_t const start = row_format::header_size + descriptor.size();
    same_shape_ = payload.size() >= start && static_cast<unsigned char>(payload[0]) == row_format::version &&
        row_format::load<std::uint32_t>(payload.data() + 4) == descriptor.size() &&
        payload.substr(row_format::header_size, descriptor.size()) == descriptor;
    if (same_shape_) {
        values_ = payload.substr(start);
    }
}

ENTITABLE_LAZY_BODY bool row_decoder::next(
    std::string_view name, described_property property, value_view& out) noexcept {
    if (!same_shape_) {
        auto const found = row_.find(name);
        out = found.value_or(value_view{});
        found_ += found ? 1U : 0U;
        return found.has_value();
    }
    if (property.nullable) {
        bool const present = !values_.empty() && values_.front() != 0;
        damaged_ = damaged_ || values_.empty();
        values_.remove_prefix(values_.empty() ? 0 : 1);
        if (!present) {
            return false;
        }
    }
    std::size_t const fixed = row_format::fixed_size(property.type);
    if (values_.size() < fixed) {
        damaged_ = true;
        return false;
    }
    char const* const at = values_.data();
    std::size_t size = fixed;
    switch (property.type) {
        case edm_type::string:
        case edm_type::binary: {
            std::size_t const length = row_format::load<std::uint32_t>(at);
            if (values_.size() - fixed < length) {
                damaged_ = true;
                return false;
            }
            out = value_view{property.type, values_.substr(fixed, length)};
            size += length;
            break;
        }
        case edm_type::guid: out = value_view{property.type, values_.substr(0, fixed)}; break;
        case edm_type::boolean: out = value_view{*at != 0}; break;
        case edm_type::int32: out = value_view{row_format::load<std::int32_t>(at)}; break;
        default: out = value_view{property.type, row_format::load<std::int64_t>(at)}; break;
    }
    values_.remove_prefix(size);
    return true;
}

ENTITABLE_LAZY_BODY result<void> row_decoder::finish(std::string_view entity) const {
    bool damaged = damaged_ || (same_shape_ && problem_.empty() && !values_.empty());
    std::size_t present = 0;
    if (!same_shape_) {
        property_cursor cursor{row_.payload};
        property_view property;
        while (cursor.next(property)) {
            present += property.present ? 1U : 0U;
        }
        damaged = cursor.damaged();
    }
    if (damaged) {
        return failure{error_code::row_malformed,
            text::joined({"the stored bytes of an entity ", entity, " are not a whole row of version 1"})};
    }
    if (!problem_.empty()) {
        return failure{error_code::row_mismatch,
            text::joined({"a row does not fit the entity ", entity, ": its property \"", problem_,
                (absent_ ? "\" is absent; make the member a std::optional to allow that"
                         : "\" has another type than the member")})};
    }
    if (mode_ == reading::strict && present > found_) {
        return failure{error_code::row_mismatch,
            text::joined({"a row does not fit the entity ", entity, ": it has ", std::to_string(present - found_),
                " properties that the entity does not declare"})};
    }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
