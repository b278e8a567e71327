// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/row_table.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY result<entity> row_table::get(std::string_view partition_key, std::string_view row_key) const {
    auto read = core_.get(std::string{partition_key}, std::string{row_key});
    if (!read) {
        return std::move(read).as_failure();
    }
    if (auto whole = check_payload(read->entity.payload()); !whole) {
        return std::move(whole).as_failure();
    }
    return entity{read->entity.view()};
}

ENTITABLE_LAZY_BODY result<void> row_table::for_each(
    key_range const& range, filter const& condition, function_ref<void(entity const&)> function) const {
    return core_.for_each_row(range, condition, [&](row_view row) { function(entity{row}); });
}

ENTITABLE_END_NAMESPACE
