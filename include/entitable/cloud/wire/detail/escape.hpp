// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Text in URLs: the only place where bytes are percent-encoded and keys become path segments. The inverse is
/// `append_url_unescaped`.

#include <entitable/core/detail/hexadecimal.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Appends `bytes` with every byte except A-Z a-z 0-9 - . _ ~ as %XX, upper-case digits (RFC 3986, 2.1 and 2.3).
void append_url_escaped(std::string& out, std::string_view bytes);

/// Like `append_url_escaped`, with every single quote doubled: a string inside quotes, in a path or in a filter.
void append_url_quoted(std::string& out, std::string_view text);

/// Appends `TABLE(PartitionKey='...',RowKey='...')`.
void append_entity_path(
    std::string& out, std::string_view table, std::string_view partition_key, std::string_view row_key);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/escape.ipp>
#endif
