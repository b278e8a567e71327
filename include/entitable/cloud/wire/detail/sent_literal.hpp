// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Literals of requests in the forms that the service accepts. They are more than the forms that the library writes and the service
/// returns: the reader of requests is not the reader of responses. tests/wire/sent_literals.cpp lists each form with its source.

#include <entitable/core/date_time.hpp>

#include <optional>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Parses a time. Digits of the fraction beyond the seventh are cut off, and the seconds may be absent.
[[nodiscard]] std::optional<date_time> sent_time(std::string_view text);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/sent_literal.ipp>
#endif
