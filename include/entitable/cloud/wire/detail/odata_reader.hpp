// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Parses the text of `$filter`: the inverse of `odata_filter.hpp`. The grammar (source: "Querying tables and entities"):
///
///     or         := and ( "or" and )*
///     and        := not ( "and" not )*
///     not        := "not" not | "(" or ")" | comparison
///     comparison := property op constant | constant op property | property | "true" | "false"
///     op         := "eq" | "ne" | "gt" | "ge" | "lt" | "le"
///     constant   := 'it''s' | 42 | 42L | 1.5 | 1e3 | 1.5d | true | false | datetime'...' | guid'...' | X'0a' | binary'0a'
///
/// Keywords are lower case. A property by itself is compared with true. Numbers without a suffix are Int32, or Int64 if they do not fit.

#include <entitable/core/request/filter.hpp>
#include <entitable/core/result.hpp>

#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Limits on the size of a condition.
struct odata_limits {
    std::size_t bytes{32 * 1024};
    std::size_t depth{64};        ///< maximum nesting of parentheses and negations
    std::size_t comparisons{512}; ///< the service documents 15
};

/// Parses a condition; an empty text means no condition. Errors, in the service's wording (see `refused`): InvalidInput for malformed text;
/// NotImplemented for functions, arithmetic and comparisons of two properties.
[[nodiscard]] result<filter> read_odata_filter(std::string_view text, odata_limits const& limits = {});

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/odata_reader.ipp>
#endif
