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
    return each_written{}(table.submit(request_));
}

ENTITABLE_LAZY_BODY own_submission change_list::to_submit(table_core const& table) && {
    auto allowed = problem_ ? table.check_operation_id() : std::move(problem_);
    if (!allowed) {
        return own_submission{own_request<transact>{std::move(allowed).as_failure()}};
    }
    return own_submission{own_request<transact>{std::in_place, table.name(), std::move(request_.changes)}};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
