// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Key ranges and filters as the text of `$filter`: the one place where it is rendered. Operators in lower case, strings with
/// doubled quotes, every constant with the suffix or prefix of its type (source: "Querying tables and entities").

#include <entitable/request/filter.hpp>
#include <entitable/request/key_range.hpp>
#include <entitable/request/profile.hpp>

#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Appends a constant: `'it''s'`, `42`, `42L`, `1.5`, `true`, `datetime'...'`, `guid'...'`, `X'0102'`. A Double is written
/// without an exponent, which servers read as a name. False, and nothing appended, for NaN and the infinities: they have
/// no constant.
[[nodiscard]] bool append_odata_literal(std::string& out, value_view operand);

/// What became of a condition.
enum class rendered : unsigned char {
    whole, ///< the text says all of it
    part,  ///< the text lets in more: the rows have to be asked again here
};

/// Appends the text that asks for the rows of `range` that satisfy `condition`; nothing when that is all rows. What a service
/// cannot say, or what the one at hand is known to answer wrongly, is left out where that only lets in more rows.
[[nodiscard]] rendered append_odata_filter(
    std::string& out, key_range const& range, filter const& condition, service kind);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/wire/impl/odata_filter.ipp>
#endif
