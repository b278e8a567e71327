// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `wire`: the codec of the protocol. It converts requests to messages and messages to responses; it sends nothing, and is independent of
/// clients and credentials.
///
/// Requests as HTTP, byte for byte and without a socket: method, address, header fields, body, except the fields that a credential adds.

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/cloud/wire/detail/odata_filter.hpp>
#include <entitable/cloud/wire/detail/service_token.hpp>
#include <entitable/core/request/requests.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The version of the protocol.
inline constexpr std::string_view rest_version = "2019-02-02";

/// The parameters of every request.
struct request_target {
    std::string_view base;          ///< address of the service, without a slash at its end
    service kind{service::storage}; ///< determines the filters that can be left to the service
    bool merge_by_post{};           ///< POST with X-HTTP-Method: MERGE, if PATCH is refused
    std::string_view request_id;    ///< x-ms-client-request-id; transactions also use it in their boundaries
};

/// Overwrites `out` with the request and reuses its buffers. Errors: InvalidInput if an ETag cannot be sent.
void write_request(http_request& out, create_table const& request, request_target const& to);
void write_request(http_request& out, delete_table const& request, request_target const& to);
void write_request(http_request& out, list_tables const& request, request_target const& to, service_token const& token);
void write_request(http_request& out, get_entity const& request, request_target const& to);
/// Returns whether the rows must be filtered again.
[[nodiscard]] rendered write_request(
    http_request& out, query_entities const& request, request_target const& to, service_token const& token);
[[nodiscard]] result<void> write_request(http_request& out, write_entity const& request, request_target const& to);
/// Writes one change set of multipart/mixed.
[[nodiscard]] result<void> write_request(http_request& out, transact const& request, request_target const& to);

/// Appends the service's time limit for a request; nothing for zero.
void append_timeout(http_request& out, request_target const& to, std::chrono::seconds timeout);

/// Starts a request of any kind, with the header fields that are always the same. `path` follows the base.
void begin_request(http_request& out, http_method method, request_target const& to, std::string_view path,
    std::string_view accept = "application/json;odata=minimalmetadata");

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/request_writer.ipp>
#endif
