// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `parse_filter`: a condition on properties from the text of `$filter`, for programs whose users write conditions.

#include <entitable/core/request/filter.hpp>
#include <entitable/core/result.hpp>

#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Parses a condition as the table service takes it:
///
///     Age ge 50 and not (Name eq 'it''s') and Born lt datetime'2026-01-31T12:00:00Z'
///
/// The constants are texts in single quotes, 42, 42L, 1.5, true, and the forms datetime'...', guid'...' and X'...'. An empty text accepts every
/// row. The result is for `query_entities::filter` and `row_table::for_each`.
///
/// Errors: InvalidInput for malformed text, more than 32 KiB, 512 comparisons or 64 levels of parentheses; NotImplemented for functions,
/// arithmetic and comparisons of two properties. Thread safety: safe to call from several threads.
[[nodiscard]] result<filter> parse_filter(std::string_view text);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/filter_text.ipp>
#endif
