// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Answers to requests, from HTTP and without a socket.

#include <entitable/http/http_message.hpp>
#include <entitable/request/kinds.hpp>
#include <entitable/wire/detail/json_reader.hpp>
#include <entitable/wire/detail/odata_filter.hpp>
#include <entitable/wire/detail/service_token.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The header fields of an answer that each kind of request looks at; valid as long as the answer.
struct answer_fields {
    std::string_view date; ///< empty when there is none
    std::string_view etag; ///< likewise
    std::optional<std::string_view> request_id;
    std::optional<std::string_view> client_request_id;
};

/// Finds them, all at once. The first of a name counts.
[[nodiscard]] answer_fields fields_of(http_headers const& headers);

/// One request on its way: what is sent, and what is needed to read the answer. Kept for the next one.
struct exchange {
    http_request request;
    json_reader reader;
    std::string request_id;
    std::string names;   ///< the descriptor of the last entity sent, whose names were found good
    service_token token; ///< where the page begins
    rendered said{rendered::whole};
    read_location location{read_location::primary};
    bool ordered{};              ///< the service promises the order of keys
    std::uint64_t fingerprint{}; ///< of the question, for its tokens
    steady_time begun{};
    std::uint64_t span{}; ///< of this attempt, where the call is watched or traced
    answer_fields fields; ///< of the answer that is being read
};

/// TransportFailed with the status of an answer that is no valid one.
[[nodiscard]] failure garbled(http_response const& response, std::initializer_list<std::string_view> why);

/// Each reads the answer to a request, or the reason why there is none. An answer that cannot be read as a whole, that is one to
/// something else or breaks the protocol is TransportFailed; where the request writes, its effect is `unknown` then.
[[nodiscard]] result<create_table::response> read_answer(create_table const&, result<http_response> const&, exchange&);
[[nodiscard]] result<delete_table::response> read_answer(delete_table const&, result<http_response> const&, exchange&);
[[nodiscard]] result<list_tables::response> read_answer(list_tables const&, result<http_response> const&, exchange&);
[[nodiscard]] result<get_entity::response> read_answer(get_entity const&, result<http_response> const&, exchange&);
[[nodiscard]] result<query_entities::response> read_answer(
    query_entities const&, result<http_response> const&, exchange&);
[[nodiscard]] result<write_entity::response> read_answer(write_entity const&, result<http_response> const&, exchange&);
[[nodiscard]] result<transact::response> read_answer(transact const&, result<http_response> const&, exchange&);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/wire/impl/answer_reader.ipp>
#endif
