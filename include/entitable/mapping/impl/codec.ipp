// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/mapping/codec.hpp>

#include <cstring>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY result<void> encode_row(row& into, row_source const& from) {
    constexpr std::size_t usual_keys = 96; // bytes of both; longer ones cost an allocation more
    std::size_t size = row_format::header_size + from.descriptor.size();
    std::string_view const* nameless = nullptr;
    for (std::size_t index = 0; index < from.count; ++index) {
        nullable_view const& value = from.values[index];
        size += value.nullable ? 1U : 0U;
        if (value.nameless && nameless == nullptr) {
            nameless = from.names + index;
        }
        if (value.present) {
            edm_type const type = value.value.type();
            size += row_format::fixed_size(type) + (row_format::has_length(type) ? value.value.bytes().size() : 0U);
        }
    }
    std::string block = std::move(into).release();
    block.clear();
    if (block.capacity() < size + usual_keys) {
        block.reserve(size + usual_keys);
    }
    if (auto appended = append_key(block, from.partition_layout, from.partition); !appended) {
        return appended;
    }
    std::size_t const partition_key_size = block.size();
    if (auto appended = append_key(block, from.row_layout, from.row); !appended) {
        return appended;
    }
    std::size_t const keys_size = block.size();
    if (nameless != nullptr) {
        return failure{error_code::out_of_range_input,
            text::joined({"the property \"", *nameless, "\" has a value of its enumeration that has no name"})};
    }
    block.resize(keys_size + size);
    char* to = block.data() + keys_size;
    auto const put = [&to](char const* bytes, std::size_t count_of_bytes) {
        if (count_of_bytes != 0) { // an empty view may point nowhere
            std::memcpy(to, bytes, count_of_bytes);
            to += count_of_bytes;
        }
    };
    *to = static_cast<char>(row_format::version);
    row_format::store(to + 2, static_cast<std::uint16_t>(from.count));
    row_format::store(to + 4, static_cast<std::uint32_t>(from.descriptor.size()));
    to += row_format::header_size;
    put(from.descriptor.data(), from.descriptor.size());
    for (std::size_t index = 0; index < from.count; ++index) {
        nullable_view const& value = from.values[index];
        if (value.nullable) {
            *to++ = static_cast<char>(value.present ? 1 : 0);
        }
        if (!value.present) {
            continue;
        }
        std::string_view const content = value.value.bytes();
        switch (value.value.type()) {
            case edm_type::string:
            case edm_type::binary:
                row_format::store(to, static_cast<std::uint32_t>(content.size()));
                to += 4;
                put(content.data(), content.size());
                break;
            case edm_type::guid: put(content.data(), content.size()); break;
            case edm_type::boolean: *to++ = static_cast<char>(value.value.bits()); break;
            case edm_type::int32:
                row_format::store(to, value.value.as_int32());
                to += 4;
                break;
            default:
                row_format::store(to, value.value.bits());
                to += 8;
                break;
        }
    }
    into = row{std::move(block), partition_key_size, keys_size - partition_key_size};
    return {};
}

/// As `value_target::take` for a target without one.
ENTITABLE_LAZY bool take_plain(value_target const& target, value_view const* value) {
    switch (target.property.type) {
        case edm_type::string: return take_value<std::string>(target.to, value);
        case edm_type::boolean: return take_value<bool>(target.to, value);
        case edm_type::int32: return take_value<std::int32_t>(target.to, value);
        case edm_type::int64: return take_value<std::int64_t>(target.to, value);
        case edm_type::float64: return take_value<double>(target.to, value);
        case edm_type::date_time: return take_value<date_time>(target.to, value);
        default: return take_value<guid>(target.to, value);
    }
}

/// The value of `type` at the start of some bytes, which are taken off; false when they are too short. A value whose target is
/// plain goes there at once, any other is left in `value`.
ENTITABLE_LAZY bool take_stored(std::string_view& bytes, value_target const& target, value_view& value) {
    edm_type const type = target.property.type;
    std::size_t size = row_format::fixed_size(type);
    if (bytes.size() < size) {
        return false;
    }
    char const* at = bytes.data();
    bool const plain = target.take == nullptr;
    switch (type) {
        case edm_type::string:
        case edm_type::binary: {
            std::size_t const length = row_format::load<std::uint32_t>(at);
            if (bytes.size() - size < length) {
                return false;
            }
            at += size;
            size += length;
            if (plain) {
                static_cast<std::string*>(target.to)->assign(at, length);
            } else {
                value.assign(type, std::string_view{at, length});
            }
            break;
        }
        case edm_type::guid:
            if (plain) {
                std::memcpy(static_cast<guid*>(target.to)->bytes.data(), at, size);
            } else {
                value.assign(type, std::string_view{at, size});
            }
            break;
        case edm_type::boolean:
            if (plain) {
                *static_cast<bool*>(target.to) = *at != 0;
            } else {
                value.assign(type, *at != 0 ? 1 : 0);
            }
            break;
        case edm_type::int32:
            if (plain) {
                *static_cast<std::int32_t*>(target.to) = row_format::load<std::int32_t>(at);
            } else {
                value.assign(type, row_format::load<std::int32_t>(at));
            }
            break;
        default: {
            auto const bits = row_format::load<std::int64_t>(at);
            if (!plain) {
                value.assign(type, bits);
            } else if (type == edm_type::float64) {
                std::memcpy(target.to, &bits, sizeof bits);
            } else if (type == edm_type::date_time) {
                static_cast<date_time*>(target.to)->ticks = bits;
            } else {
                *static_cast<std::int64_t*>(target.to) = bits;
            }
        }
    }
    bytes.remove_prefix(size);
    return true;
}

ENTITABLE_LAZY failure row_is_damaged(std::string_view entity) {
    return failure{error_code::row_malformed,
        text::joined({"the stored bytes of an entity ", entity, " are not a whole row of version 1"})};
}

ENTITABLE_LAZY failure property_mismatch(std::string_view entity, std::string_view name, bool absent) {
    return failure{error_code::row_mismatch,
        text::joined({"a row does not fit the entity ", entity, ": its property \"", name,
            (absent ? "\" is absent; make the member a std::optional to allow that"
                    : "\" has another type than the member")})};
}

/// A row of another shape: each property by its name.
ENTITABLE_LAZY result<void> decode_by_name(row_view row, value_target const* targets, std::string_view const* names,
    std::size_t count, reading mode, std::string_view entity) {
    std::size_t found = 0;
    std::string_view const* offender = nullptr;
    bool offender_absent = false;
    for (std::size_t index = 0; index < count; ++index) {
        auto const value = row.find(names[index]);
        value_target const& target = targets[index];
        value_view const* const given = value ? &*value : nullptr;
        found += value ? 1U : 0U;
        bool const good = target.take != nullptr ? target.take(target.to, given) : take_plain(target, given);
        if (!good && offender == nullptr && (value || mode != reading::lenient)) {
            offender = names + index;
            offender_absent = !value;
        }
    }
    property_cursor cursor{row.payload};
    property_view property;
    std::size_t present = 0;
    while (cursor.next(property)) {
        present += property.present ? 1U : 0U;
    }
    if (cursor.damaged()) {
        return row_is_damaged(entity);
    }
    if (offender != nullptr) {
        return property_mismatch(entity, *offender, offender_absent);
    }
    if (mode == reading::strict && present > found) {
        return failure{error_code::row_mismatch,
            text::joined({"a row does not fit the entity ", entity, ": it has ", std::to_string(present - found),
                " properties that the entity does not declare"})};
    }
    return {};
}

ENTITABLE_LAZY_BODY result<void> decode_row(row_view row, std::string_view descriptor, value_target const* targets,
    std::string_view const* names, std::size_t count, reading mode, std::string_view entity) {
    std::string_view const payload = row.payload;
    std::size_t const start = row_format::header_size + descriptor.size();
    bool const same_shape = payload.size() >= start && static_cast<unsigned char>(payload[0]) == row_format::version &&
        row_format::load<std::uint32_t>(payload.data() + 4) == descriptor.size() &&
        payload.substr(row_format::header_size, descriptor.size()) == descriptor;
    if (!same_shape) {
        return decode_by_name(row, targets, names, count, mode, entity);
    }
    std::string_view values = payload.substr(start);
    std::string_view const* offender = nullptr;
    value_view value;
    for (std::size_t index = 0; index < count; ++index) {
        value_target const& target = targets[index];
        bool present = true;
        if (target.property.nullable) {
            if (values.empty()) {
                return row_is_damaged(entity);
            }
            present = values.front() != 0;
            values.remove_prefix(1);
        }
        if (present && !take_stored(values, target, value)) {
            return row_is_damaged(entity);
        }
        if (target.take != nullptr && !target.take(target.to, present ? &value : nullptr) && offender == nullptr) {
            offender = names + index;
        }
    }
    if (!values.empty()) {
        return row_is_damaged(entity);
    }
    return offender == nullptr ? result<void>{} : property_mismatch(entity, *offender, false);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
