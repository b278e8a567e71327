// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/batch.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY void change_list::add(mutation_kind kind, result<row> entity, etag_condition condition) {
    if (entity) {
        request_.changes.push_back({kind, *std::move(entity), std::move(condition)});
    } else if (problem_) {
        failure refused = std::move(entity).as_failure();
        refused.error().operation_index = request_.changes.size();
        problem_ = std::move(refused);
    }
}

ENTITABLE_LAZY_BODY void change_list::clear() noexcept {
    request_.changes.clear();
    problem_ = {};
}

ENTITABLE_LAZY_BODY result<std::vector<written>> change_list::submit(table_core const& table) const {
    if (!problem_) {
        return failure{problem_.error()};
    }
    request_.table = table.name();
    auto submitted = table.submit(request_);
    if (!submitted) {
        return std::move(submitted).as_failure();
    }
    return std::move(submitted->results);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
