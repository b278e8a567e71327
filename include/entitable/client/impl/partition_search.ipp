// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/detail/partition_search.hpp>
#include <entitable/core/row/system_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY partition_search::partition_search(std::string table, result<void> allowed, bool any_row)
    : any_row_(any_row) {
    asked_.table = std::move(table);
    asked_.select = {"PartitionKey", "RowKey"};
    asked_.page_size = 1;
    if (!allowed) { end(std::move(allowed).as_failure()); }
}

ENTITABLE_LAZY_BODY void partition_search::end(failure problem) {
    keys_ = std::move(problem);
    ended_ = true;
}

ENTITABLE_LAZY_BODY void partition_search::abandon(error const& reason) { end(failure{reason}); }

ENTITABLE_LAZY_BODY result<std::vector<std::string>> partition_search::finish() { return std::move(keys_); }

ENTITABLE_LAZY_BODY void partition_search::go_behind(std::string partition) {
    asked_.range = {{key_bound::excluding(std::move(partition)), {}}, {}};
    within_.reset();
}

ENTITABLE_LAZY_BODY void partition_search::answer(result<query_entities::response> page, steady_time) {
    if (!page) { return end(std::move(page).as_failure()); }
    if (page->rows.empty() && page->continuation) {
        asked_.continuation = std::move(page->continuation);
        return;
    }
    asked_.continuation.reset();
    if (page->rows.empty()) {
        if (!within_) {
            ended_ = true;
            return;
        }
        go_behind(*std::move(within_));
    } else if (row_view const found = page->rows[0]; !any_row_ && system_row::is_one(found.row_key)) {
        within_.emplace(found.partition_key);
        asked_.range = {key_interval::only(*within_), {key_bound::including(std::string{system_row::end}), {}}};
    } else {
        keys_->emplace_back(found.partition_key);
        go_behind(keys_->back());
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
