// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The dates of HTTP header fields.

#include <entitable/core/date_time.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Parses "Mon, 27 Jul 2026 12:28:53 GMT" (RFC 9110, 5.6.7, the form that servers must send); nullopt for other text. The day of the week
/// is not checked.
[[nodiscard]] std::optional<date_time> parse_http_date(std::string_view text) noexcept;

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/http_date.ipp>
#endif
