// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/detail/row_digest.hpp>

#include <cstring>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A damaged descriptor ends the columns, as it ends a walk over the properties.
ENTITABLE_LAZY_BODY void quick_digests::learn(std::size_t properties) {
    columns_.clear();
    std::string_view rest = descriptor_;
    for (; properties > 0 && rest.size() >= 3; --properties) {
        auto const kind = static_cast<unsigned char>(rest.front());
        auto const type = static_cast<edm_type>(kind & ~row_format::nullable_bit);
        std::size_t const name_size = row_format::load<std::uint16_t>(rest.data() + 1);
        rest.remove_prefix(3);
        if (type < edm_type::string || type > edm_type::binary || rest.size() < name_size) { return; }
        row_digest begun;
        begun.add(rest.substr(0, name_size));
        begun.add(static_cast<std::uint64_t>(type));
        rest.remove_prefix(name_size);
        columns_.push_back({begun.value(), static_cast<std::uint8_t>(row_format::fixed_size(type)),
            row_format::has_length(type), (kind & row_format::nullable_bit) != 0});
    }
}

ENTITABLE_LAZY_BODY std::uint64_t quick_digests::of(row_view each) {
    constexpr std::size_t long_value = 64; // four lanes pay off
    std::string_view rest = each.payload;
    if (rest.size() < row_format::header_size || static_cast<unsigned char>(rest.front()) != row_format::version) {
        return 0;
    }
    std::size_t const properties = row_format::load<std::uint16_t>(rest.data() + 2);
    std::size_t const size = row_format::load<std::uint32_t>(rest.data() + 4);
    rest.remove_prefix(row_format::header_size);
    if (size > rest.size()) { return 0; }
    std::string_view const descriptor = rest.substr(0, size);
    rest.remove_prefix(size);
    if (properties != properties_ || descriptor != descriptor_) {
        descriptor_ = descriptor;
        properties_ = properties;
        learn(properties);
    }
    std::uint64_t made = 0;
    char const* at = rest.data();
    std::size_t left = rest.size();
    for (column const& next : columns_) {
        if (next.nullable) {
            if (left == 0) { break; }
            --left;
            if (*at++ == 0) { continue; }
        }
        if (left < next.size) { break; }
        row_digest digest{next.name_and_type};
        std::size_t used = next.size;
        if (next.has_length) {
            std::size_t const length = row_format::load<std::uint32_t>(at);
            if (left - used < length) { break; }
            std::string_view const bytes{at + used, length};
            if (length < long_value) {
                digest.add(bytes);
            } else {
                digest.add(bytes_digest(bytes));
            }
            used += length;
        } else if (next.size == 8) {
            digest.add(row_format::load<std::uint64_t>(at));
        } else if (next.size == 4) {
            digest.add(std::uint64_t{row_format::load<std::uint32_t>(at)});
        } else if (next.size == 1) {
            digest.add(std::uint64_t{*at != 0 ? 1U : 0U});
        } else {
            digest.add(std::string_view{at, used});
        }
        made += digest.value();
        at += used;
        left -= used;
    }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
