// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Renders key ranges and filters as the text of `$filter`. This is the only code that does so. Operators in lower case, strings with
/// doubled quotes, every constant with the suffix or prefix of its type (source: "Querying tables and entities").

#include <entitable/core/request/filter.hpp>
#include <entitable/core/request/key_range.hpp>
#include <entitable/core/request/profile.hpp>

#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Appends a constant: `'it''s'`, `42`, `42L`, `1.5`, `true`, `datetime'...'`, `guid'...'`, `X'0102'`. A Double is written without an
/// exponent, which servers read as a name. Returns false and appends nothing for NaN and the infinities, which have no constant.
[[nodiscard]] bool append_odata_literal(std::string& out, value_view operand);

/// The result of rendering a condition.
enum class rendered : unsigned char {
    whole, ///< the text is equivalent to the condition
    part,  ///< the text matches more rows: the client must filter them again
};

/// Appends a filter for the rows of `range` that satisfy `condition`; nothing if the filter matches all rows. Conditions that a service
/// cannot express, or that this service is known to evaluate incorrectly, are omitted if the filter then only matches more rows.
[[nodiscard]] rendered append_odata_filter(
    std::string& out, key_range const& range, filter const& condition, service kind);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/odata_filter.ipp>
#endif
