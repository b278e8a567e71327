// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/decorators/detail/write_with_row.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<write_with_row> with_operation_row(
    transact request, call const& context, retry_ledger& ledger, profile const& limits) {
    if (request.changes.empty() || request.changes.size() >= limits.max_operations) {
        return failure{error_code::invalid_input,
            "a batch with an operation row must have at least one operation, and at most one fewer than other batches"};
    }
    write_with_row made;
    made.given = !context.operation_id.empty();
    made.operation_id = made.given ? context.operation_id : ledger.new_operation_id();
    if (made.given) {
        // The id is part of a row key, after the prefix; error messages count only the characters of the id.
        constexpr std::size_t prefix = operation_row::row_key_prefix.size();
        profile own = limits;
        own.max_key_units -= prefix;
        own.max_partition_key_size = limits.max_row_key_size == 0 ? 0 : limits.max_row_key_size - prefix;
        ENTITABLE_CHECK(validate_key(made.operation_id, "operation id", own));
    }
    made.sent.table = std::move(request.table);
    made.sent.changes.reserve(request.changes.size() + 1);
    made.sent.changes.push_back(mutation::insert(operation_row::make(request.changes.front().entity.partition_key(),
        made.operation_id, operation_row::content_of(request.changes))));
    for (mutation& change : request.changes) { made.sent.changes.push_back(std::move(change)); }
    return made;
}

ENTITABLE_DECL result<transact::response> without_operation_row(
    transact const&, result<transact::response> answered, std::string const& operation_id) {
    if (answered) {
        if (!answered->results.empty()) { answered->results.erase(answered->results.begin()); }
        return answered;
    }
    failure refused = std::move(answered).as_failure();
    error& problem = refused.error();
    if (problem.operation_index) {
        // Index in the caller's changes.
        problem.operation_index =
            *problem.operation_index > 0 ? std::optional{*problem.operation_index - 1} : std::nullopt;
    }
    if (problem.effect == effect::unknown) { problem.operation_id = operation_id; }
    return refused;
}

ENTITABLE_DECL result<written> without_operation_row(
    write_entity const&, result<transact::response> answered, std::string const& operation_id) {
    auto all = without_operation_row(transact{}, std::move(answered), operation_id);
    if (!all) {
        failure refused = std::move(all).as_failure();
        refused.error().operation_index.reset();
        return refused;
    }
    return std::move(all->results.front());
}

} // namespace detail
ENTITABLE_END_NAMESPACE
