// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Standard base64 with padding (RFC 4648, 4), as used for binary properties.

#include <entitable/core/config.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

void append_base64(std::string& out, std::string_view bytes);

/// Appends the decoded bytes; false unless the text consists of whole groups of four characters of the alphabet, padded at the end.
[[nodiscard]] bool append_from_base64(std::string& out, std::string_view text);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/base64.ipp>
#endif
