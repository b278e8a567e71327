// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/aggregate/detail/listed_sums.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL failure sums_elsewhere() {
    return failure{error_code::invalid_input, "an aggregate must be a row in the partition of its entity"};
}

ENTITABLE_DECL result<void> visit_sums(table_core const& core, std::string const& partition_key,
    std::vector<std::string> row_keys, function_ref<result<void>(row_view)> visit) {
    std::sort(row_keys.begin(), row_keys.end());
    result<void> good;
    key_range const range{key_interval::only(partition_key),
        {key_bound::including(row_keys.front()), key_bound::including(row_keys.back())}};
    auto read = core.for_each_row(range, {}, false, [&](row_view each) {
        if (good && std::binary_search(row_keys.begin(), row_keys.end(), each.row_key)) { good = visit(each); }
    });
    return read ? std::move(good) : std::move(read);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
