// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The continuation tokens of REST backends. Printable ASCII, version 1 (docs/stored_formats.md):
///
///     r1!<p or s>!<16 hexadecimal digits>[!P<text>][!R<text>][!T<text>]
///
/// p: read from the primary, s: from the secondary, to which the token must return. It is followed by the service's own tokens for the next
/// partition key, row key and table, opaque and percent-encoded. The digits are a checksum over them and the query: a token that was
/// truncated, changed or taken from another query or account is refused, and not sent.

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/part_hash.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The continuation of a list, as the service returns it. Each part is sent back only if it was received.
struct service_token {
    read_location location{read_location::primary};
    std::optional<std::string> partition;
    std::optional<std::string> row;
    std::optional<std::string> table;

    [[nodiscard]] bool empty() const noexcept { return !partition && !row && !table; }
};

/// Longer tokens are refused: no service sends them, and no URL could contain them.
inline constexpr std::size_t max_service_token = 8192;

/// Returns the token in the header fields of a response; an empty field counts as absent.
[[nodiscard]] service_token service_token_of(http_headers const& headers, read_location location);

/// Appends `NextPartitionKey=...&NextRowKey=...`, each after `separator`, which is "?" or "&" and becomes "&".
void append_token(std::string& url, service_token const& token, char& separator);

/// Returns the token for the caller.
[[nodiscard]] std::string make_service_token(std::uint64_t fingerprint, service_token const& token);

/// Parses a caller's token. Errors: ContinuationInvalid unless `make_service_token` made it for the same query.
[[nodiscard]] result<service_token> read_service_token(std::uint64_t fingerprint, std::string_view text);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/service_token.ipp>
#endif
