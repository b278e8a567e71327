// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A write and its operation row: the transaction to send, and the conversion of its response.

#include <entitable/core/decorators/detail/retry_course.hpp>
#include <entitable/core/request/operation_row.hpp>
#include <entitable/core/request/profile.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The transaction that replaces a write.
struct write_with_row {
    transact sent;            ///< transaction whose first change inserts the operation row
    std::string operation_id; ///< id in the row's key
    bool given{};             ///< id set by the caller: another process may have sent the write before
};

/// The kind of a transaction that inserts its operation row.
[[nodiscard]] inline request_kind kind_with_row(transact const& request) noexcept {
    return kind_of(request) == request_kind::merging_batch ? request_kind::merging_batch_with_operation
                                                           : request_kind::batch_with_operation;
}

/// Puts the operation row first, with the id of the call or a new id. Errors: InvalidInput if the batch is full, or if the id cannot be
/// part of a key.
[[nodiscard]] result<write_with_row> with_operation_row(
    transact request, call const& context, retry_ledger& ledger, profile const& limits);
[[nodiscard]] inline result<write_with_row> with_operation_row(
    write_entity const& request, call const& context, retry_ledger& ledger, profile const& limits) {
    return with_operation_row(transact{request.table, {request.change}}, context, ledger, limits);
}

/// Converts the response to the transaction into the response to the write.
[[nodiscard]] result<transact::response> without_operation_row(
    transact const& asked, result<transact::response> answered, std::string const& operation_id);
[[nodiscard]] result<written> without_operation_row(
    write_entity const& asked, result<transact::response> answered, std::string const& operation_id);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/decorators/impl/write_with_row.ipp>
#endif
