// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/detail/table_operations.hpp>
#include <entitable/core/row/system_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY partition_search::partition_search(std::string table, result<void> allowed, bool any_row)
    : any_row_(any_row) {
    pages_.request().table = std::move(table);
    pages_.request().select = {"PartitionKey", "RowKey"};
    if (!allowed) { end(std::move(allowed).as_failure()); }
}

ENTITABLE_LAZY_BODY void partition_search::end(failure problem) {
    keys_ = std::move(problem);
    ended_ = true;
}

ENTITABLE_LAZY_BODY void partition_search::abandon(error const& reason) { end(failure{reason}); }

ENTITABLE_LAZY_BODY result<std::vector<std::string>> partition_search::finish() { return std::move(keys_); }

ENTITABLE_LAZY_BODY void partition_search::go_behind(std::string partition) {
    pages_.request().range = {{key_bound::excluding(std::move(partition)), {}}, {}};
    within_.reset();
}

ENTITABLE_LAZY_BODY void partition_search::answer(result<query_entities::response> page, steady_time) {
    auto const here = pages_.take(std::move(page));
    if (!here) { return end(failure{here.error()}); }
    if (here->rows.empty() && pages_.more()) { return; }
    pages_.restart();
    if (here->rows.empty()) {
        if (!within_) {
            ended_ = true;
            return;
        }
        go_behind(*std::move(within_));
    } else if (row_view const found = here->rows[0]; !any_row_ && system_row::is_one(found.row_key)) {
        within_.emplace(found.partition_key);
        pages_.request().range = {
            key_interval::only(*within_), {key_bound::including(std::string{system_row::end}), {}}};
    } else {
        keys_->emplace_back(found.partition_key);
        go_behind(keys_->back());
    }
}

ENTITABLE_LAZY_BODY result<bool> unless(result<void> failed, error_code tolerated) {
    if (failed) { return true; }
    if (failed.error().code == tolerated) { return false; }
    return std::move(failed).as_failure();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
