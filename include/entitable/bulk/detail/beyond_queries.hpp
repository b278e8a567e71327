// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What a bulk load over a query does not find, and must not lose: the rows of queues and views, and the parts of wide entities.

#include <entitable/row/system_rows.hpp>
#include <entitable/transport/any_transport.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// NotSupported for the table of a queue or a view, of which no query finds anything. Cost: one request; such tables have a row that says so in a
/// partition of its own.
[[nodiscard]] result<void> check_found_by_queries(
    any_transport const& in, std::string_view table, call_options const& calls, clock& time);

/// NotSupported for the main row of a wide entity: the operation would lose its parts.
[[nodiscard]] result<void> check_not_wide(row_view found, std::string_view table, std::string_view instead);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/impl/beyond_queries.ipp>
#endif
