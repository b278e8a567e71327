// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/operation_row.hpp>
#include <entitable/core/request/part_hash.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace operation_row {

inline constexpr std::string_view version_name = "OperationVersion";
inline constexpr std::string_view content_name = "OperationContent";
inline constexpr std::string_view void_name = "OperationVoid";

ENTITABLE_LAZY_BODY std::int64_t content_of(std::vector<mutation> const& changes) noexcept {
    detail::part_hash hash{version};
    for (mutation const& change : changes) {
        row_view const entity = change.entity;
        hash.add(static_cast<std::uint64_t>(change.kind));
        hash.add(entity.partition_key);
        hash.add(entity.row_key);
        hash.add(change.condition.any() ? std::string{"*"} : change.condition.version().to_string());
        // Excludes the Timestamp, which the service sets.
        bool const whole = entity.payload.size() > row_format::header_size;
        hash.add(whole ? entity.payload.substr(row_format::header_size) : std::string_view{});
    }
    return static_cast<std::int64_t>(hash.value());
}

ENTITABLE_LAZY_BODY row make(std::string_view partition_key, std::string_view operation_id, std::int64_t content) {
    row_builder builder{partition_key, row_key(operation_id)};
    builder.add(version_name, value_view{version});
    builder.add(content_name, value_view{content});
    return builder.build();
}

ENTITABLE_LAZY_BODY row make_void(std::string_view partition_key, std::string_view operation_id) {
    row_builder builder{partition_key, row_key(operation_id)};
    builder.add(version_name, value_view{version});
    builder.add(void_name, value_view{true});
    return builder.build();
}

ENTITABLE_LAZY_BODY bool is_void(row_view found) noexcept {
    auto const held = found.find(void_name);
    return held && held->type() == edm_type::boolean && held->as_boolean();
}

ENTITABLE_LAZY_BODY bool is_one(row_view found) noexcept {
    if (!found.row_key.starts_with(row_key_prefix)) { return false; }
    auto const held = found.find(version_name);
    return held && held->type() == edm_type::int32 && held->as_int32() == version;
}

} // namespace operation_row
ENTITABLE_END_NAMESPACE
