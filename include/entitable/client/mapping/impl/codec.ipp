// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/codec.hpp>
#include <entitable/client/mapping/impl/value_reader.ipp>
#include <entitable/core/row/detail/property_finder.hpp>
#include <entitable/core/text.hpp>

#include <cstring>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY result<void> encode_row(row& into, entity_layout const& of, key_source const* partition,
    key_source const* row_key, nullable_view const* values, std::string_view const* names, std::size_t count) {
    constexpr std::size_t most_beside_view = 9; // bytes of a value that are not in its `bytes()`
    constexpr std::size_t usual_keys = 96;      // bytes of both keys; longer keys cost one more allocation
    constexpr std::size_t long_value = 4096;    // bytes; inserted into the block, which is not filled with zeros for it
    std::size_t size = row_format::header_size + of.descriptor.size() + most_beside_view * count; // at most
    bool has_nameless = false;
    for (std::size_t index = 0; index < count; ++index) {
        size += values[index].value.bytes().size();
        has_nameless = has_nameless || values[index].nameless;
    }
    std::string& block = row_filling::begin(into);
    if (block.capacity() < size + usual_keys) { block.reserve(size + usual_keys); }
    auto const append = [&block](key_layout layout, key_source const* from) -> result<void> {
        if (layout.size() == 1 && from->append == &append_value<key_codec<std::string>, std::string>) {
            block += *static_cast<std::string const*>(from->value); // the usual key, without separators
            return {};
        }
        return append_key(block, layout, from);
    };
    if (auto appended = append(of.partition_layout, partition); !appended) { return appended; }
    std::size_t const partition_key_size = block.size();
    if (auto appended = append(of.row_layout, row_key); !appended) { return appended; }
    std::size_t const keys_size = block.size();
    if (std::string_view const made{block.data() + partition_key_size, keys_size - partition_key_size};
        system_row::is_one(made)) {
        return key_reserved(made);
    }
    if (has_nameless) {
        std::size_t index = 0;
        while (!values[index].nameless) { ++index; }
        return failure{error_code::out_of_range_input,
            text::joined({"the property \"", names[index], "\" has an enumeration value without a name"})};
    }
    std::size_t inserted = 0;
    for (std::size_t index = 0; size > long_value && index < count; ++index) {
        std::size_t const bytes = values[index].present ? values[index].value.bytes().size() : 0;
        inserted += bytes > long_value ? bytes : 0;
    }
    if (inserted != 0) { block.reserve(keys_size + size); }
    block.resize(keys_size + size - inserted);
    char* to = block.data() + keys_size;
    auto const put = [&to](char const* bytes, std::size_t count_of_bytes) {
        if (count_of_bytes != 0) { // the data of an empty view may be null
            std::memcpy(to, bytes, count_of_bytes);
            to += count_of_bytes;
        }
    };
    *to = static_cast<char>(row_format::version);
    row_format::store(to + 2, static_cast<std::uint16_t>(count));
    row_format::store(to + 4, static_cast<std::uint32_t>(of.descriptor.size()));
    to += row_format::header_size;
    put(of.descriptor.data(), of.descriptor.size());
    for (std::size_t index = 0; index < count; ++index) {
        nullable_view const& value = values[index];
        if (value.nullable) { *to++ = static_cast<char>(value.present ? 1 : 0); }
        if (!value.present) { continue; }
        std::string_view const content = value.value.bytes();
        switch (value.value.type()) {
            case edm_type::string:
            case edm_type::binary:
                row_format::store(to, static_cast<std::uint32_t>(content.size()));
                to += 4;
                if (content.size() > long_value) {
                    auto const end = block.begin() + (to - block.data());
                    to = &*block.insert(end, content.begin(), content.end()) + content.size();
                } else {
                    put(content.data(), content.size());
                }
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
    block.resize(static_cast<std::size_t>(to - block.data()));
    row_filling::end(into, partition_key_size, keys_size - partition_key_size);
    return {};
}

ENTITABLE_LAZY_BODY result<void> decode_by_name(row_view const& row, value_target const* targets,
    std::string_view const* names, std::size_t count, reading mode, std::string_view entity,
    std::size_t read_elsewhere) {
    std::size_t found = read_elsewhere;
    std::string_view const* offender = nullptr;
    std::optional<edm_type> offending; // absent if there is no value
    property_finder properties{row};
    for (std::size_t index = 0; index < count; ++index) {
        property_view const* const at = properties.find(names[index]);
        value_view const* const value = at != nullptr && at->present ? &at->value : nullptr;
        found += value != nullptr ? 1U : 0U;
        bool const good = targets[index].take(targets[index].to, value);
        if (!good && offender == nullptr && (value != nullptr || mode != reading::lenient)) {
            offender = names + index;
            if (value != nullptr) { offending = value->type(); }
        }
    }
    property_cursor cursor{row.payload};
    property_view property;
    std::size_t present = 0;
    while (cursor.next(property)) { present += property.present ? 1U : 0U; }
    if (cursor.damaged()) { return row_is_damaged(entity); }
    if (offender != nullptr) { return property_mismatch(entity, *offender, !offending, offending); }
    if (mode == reading::strict && present > found) {
        return failure{error_code::row_mismatch,
            text::joined({"a row does not fit the entity ", entity, ": it has ", std::to_string(present - found),
                " properties that the entity does not declare"})};
    }
    return {};
}

ENTITABLE_LAZY_BODY result<void> decode_by_name(
    row_view const& row, value_target const* targets, entity_layout const& of, reading mode) {
    return decode_by_name(row, targets, of.names, of.count, mode, of.name);
}

ENTITABLE_LAZY_BODY result<void> read_both_keys(
    row_view const& row, entity_layout const& of, key_target const* partition, key_target const* row_key) {
    // A key of one component needs no splitting.
    auto const read = [](std::string_view key, key_layout layout, key_target const* values) {
        return layout.size() == 1 && values->parse != nullptr ? values->parse(key, values->value)
                                                              : read_key(key, layout, values);
    };
    if (!read(row.partition_key, of.partition_layout, partition)) {
        return key_mismatch(of.name, key_part::partition, row.partition_key);
    }
    if (!read(row.row_key, of.row_layout, row_key)) { return key_mismatch(of.name, key_part::row, row.row_key); }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
