// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/key_layout.hpp>
#include <entitable/client/row_table.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY result<entity> row_table::get(std::string_view partition_key, std::string_view row_key) const {
    result<entity> found{std::in_place};
    auto read = core_.read(partition_key, row_key, [&](row_view const& stored, etag const&, bool) {
        auto whole = check_payload(stored.payload);
        if (whole) { *found = entity{stored}; }
        return whole;
    });
    if (!read) { found = std::move(read).as_failure(); }
    return found;
}

ENTITABLE_LAZY_BODY result<written> row_table::write(mutation change) const {
    if (system_row::is_one(change.entity.row_key())) { return key_reserved(change.entity.row_key()); }
    return core_.write(std::move(change));
}

ENTITABLE_LAZY_BODY result<void> row_table::for_each(key_range const& range, filter const& condition,
    function_ref<void(entity const&)> function, system_rows of_the_library) const {
    return core_.for_each_row(
        range, condition, of_the_library == system_rows::shown, [&](row_view row) { function(entity{row}); });
}

ENTITABLE_END_NAMESPACE
