// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Reads the responses to requests, from HTTP messages and without a socket.

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/cloud/wire/detail/json_reader.hpp>
#include <entitable/cloud/wire/detail/odata_filter.hpp>
#include <entitable/cloud/wire/detail/service_token.hpp>
#include <entitable/core/request/kinds.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The header fields of a response that each kind of request reads; valid for the lifetime of the response.
struct answer_fields {
    std::string_view date; ///< empty if absent
    std::string_view etag; ///< likewise
    std::optional<std::string_view> request_id;
    std::optional<std::string_view> client_request_id;
    std::string_view request_charge; ///< empty if absent
};

/// Finds these fields in one pass. If a field occurs more than once, the first one is used.
[[nodiscard]] answer_fields fields_of(http_headers const& headers);

/// The state of one request in flight: the message sent, and the data needed to read the response. Reused for the next response.
struct exchange {
    http_request request;
    json_reader reader;
    std::string request_id;
    std::string names;   ///< the descriptor of the last entity sent, whose names are valid
    service_token token; ///< token at which the page begins
    rendered said{rendered::whole};
    read_location location{read_location::primary};
    std::size_t place{};         ///< index of the address: 0 is the primary
    bool ordered{};              ///< the service guarantees the order of keys
    std::uint64_t fingerprint{}; ///< fingerprint of the query, for its tokens
    steady_time begun{};
    std::uint64_t span{}; ///< span id of this attempt, if the call is observed or traced
    answer_fields fields; ///< header fields of the response that is being read
};

/// Returns TransportFailed with the status of an invalid response.
[[nodiscard]] failure garbled(http_response const& response, std::initializer_list<std::string_view> why);

/// Reads the response to a request, or returns its error. A response that cannot be read completely, belongs to another request or violates
/// the protocol fails with TransportFailed; the effect of a write is `unknown` then.
template <table_request Request>
[[nodiscard]] result<response_of<Request>> read_answer(
    Request const& request, result<http_response> const& response, exchange& work);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/answer_reader.ipp>
#endif
