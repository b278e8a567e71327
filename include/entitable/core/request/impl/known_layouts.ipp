// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/date_time.hpp>
#include <entitable/core/request/detail/known_layouts.hpp>
#include <entitable/core/request/profile.hpp>
#include <entitable/core/row/row.hpp>
#include <entitable/core/text.hpp>

#include <memory>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY void known_layouts::add(std::string_view descriptor) {
    if (find(descriptor) != nullptr || number_.load(memory_order::relaxed) >= most ||
        number_.fetch_add(1, memory_order::relaxed) >= most) {
        return;
    }
    auto made = std::make_unique<layout>(layout{std::string{descriptor}});
    std::size_t before = 0;
    while (!descriptor.empty()) {
        auto const kind = static_cast<unsigned char>(descriptor.front());
        auto const type = static_cast<edm_type>(kind & ~row_format::nullable_bit);
        bool const nullable = (kind & row_format::nullable_bit) != 0;
        std::size_t const name_size = row_format::load<std::uint16_t>(descriptor.data() + 1);
        descriptor.remove_prefix(3 + name_size);
        made->name_bytes += name_size;
        ++made->properties;
        if (nullable || row_format::has_length(type) || type == edm_type::date_time) {
            made->values.push_back({before, type, nullable});
            before = 0;
        } else {
            before += row_format::fixed_size(type);
        }
    }
    made->after = before;
    layout* const fresh = made.release();
    fresh->next = first_.load(memory_order::acquire);
    while (!first_.compare_exchange_weak(fresh->next, fresh, memory_order::release, memory_order::acquire)) {}
}

/// Whether a row of a known layout is valid, so that only its values are checked. May be false for a valid row, which then needs the full
/// check.
ENTITABLE_LAZY bool has_good_values(
    row_view entity, known_layouts::layout const& known, profile const& limits) noexcept {
    char const* at = entity.payload.data() + row_format::header_size + known.descriptor.size();
    auto left = static_cast<std::size_t>(entity.payload.data() + entity.payload.size() - at);
    std::size_t const values = left;
    for (known_layouts::checked_value const& each : known.values) {
        bool const has_length = row_format::has_length(each.type);
        std::size_t size = each.before;
        if (each.nullable) {
            if (left <= size) { return false; }
            bool const present = at[size] != 0;
            at += size + 1;
            left -= size + 1;
            if (!present) { continue; }
            size = 0;
        }
        size += row_format::fixed_size(each.type);
        if (left < size) { return false; }
        at += size;
        left -= size;
        if (has_length) {
            std::string_view const content{at, row_format::load<std::uint32_t>(at - 4)};
            if (left < content.size()) { return false; }
            if (each.type == edm_type::binary) {
                if (content.size() > limits.max_binary_size) { return false; }
            } else if (content.size() > limits.max_string_units || text::valid_utf8_prefix(content) != content.size()) {
                return false;
            }
            at += content.size();
            left -= content.size();
        } else if (each.type == edm_type::date_time && !date_time{row_format::load<std::int64_t>(at - 8)}.is_valid()) {
            return false;
        }
    }
    // An upper bound of the size as the service measures it, with the absent properties.
    std::size_t const bytes = 4 +
        2 * (entity.partition_key.size() + entity.row_key.size() + known.name_bytes + values) + 32 * known.properties;
    return left == known.after && static_cast<unsigned char>(entity.payload[0]) == row_format::version &&
        row_format::load<std::uint16_t>(entity.payload.data() + 2) == known.properties &&
        known.properties <= limits.max_properties && bytes <= limits.max_entity_size;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
