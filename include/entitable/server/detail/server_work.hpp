// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// One request under way in a server, and the functions that answer each kind of it.

#include <entitable/account/detail/access_check.hpp>
#include <entitable/http/http_message.hpp>
#include <entitable/request/call.hpp>
#include <entitable/server/detail/server_engine.hpp>
#include <entitable/wire/detail/answer_writer.hpp>
#include <entitable/wire/detail/batch_request.hpp>
#include <entitable/wire/detail/service_address.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What the answers share.
struct server_work {
    server_engine& engine;
    http_request const& request;
    http_response& out;
    service_address address;
    http_method method{http_method::get}; ///< that is meant: X-HTTP-Method may name it
    account_state* account{};
    access_grant grant;
    answer_style style;
    call context;
    std::string request_id;
    date_time now;
    std::string_view name{"http"}; ///< of the operation, for the observer
};

/// What a signature has to permit for an operation: one of the letters of each group, and one of the types of resources.
struct needed_rights {
    std::string_view letters;
    std::string_view also{};
    std::string_view resource{"o"};
    bool on_table{}; ///< a signature for one table may do it
};

/// AuthorizationPermissionMismatch, AuthorizationResourceTypeMismatch, AuthorizationFailure as `refused` makes them.
[[nodiscard]] result<void> check_rights(access_grant const& grant, std::string_view table, needed_rights const& needed);
/// AuthorizationFailure for an entity that lies outside of the signature's bounds.
[[nodiscard]] result<void> check_reach(
    access_grant const& grant, std::string_view partition_key, std::string_view row_key);

/// What a transport answered, as a refusal.
[[nodiscard]] failure refused_by_store(error const& problem);

/// One change: what a request for it says, and what it makes of it.
struct sent_change {
    http_method method{};
    change_fields const& fields;
    std::string_view body;
    service_address const& address; ///< names the table for an insert, else the entity
};

/// Reads a change and checks that it is permitted.
[[nodiscard]] result<mutation> read_change(sent_change const& sent, access_grant const& grant, entity_reader& reader);
/// Whether an insert is to be answered without the entity, by the field Prefer.
[[nodiscard]] bool wants_no_content(std::optional<std::string_view> prefer) noexcept;
/// The JSON of an entity that was just inserted.
void append_inserted(
    std::string& out, row const& entity, etag const& version, std::string_view table, answer_style const& style);
/// "BASE/T(PartitionKey='..',RowKey='..')"
[[nodiscard]] std::string location_of(server_work const& work, std::string_view table, row_view entity);

/// An option of the query; InvalidQueryParameterValue when it is there twice.
[[nodiscard]] result<std::optional<std::string>> option_of(server_work const& work, std::string_view name);
/// `$top`: 1 to 1000; 0 for an empty page.
[[nodiscard]] result<std::uint32_t> page_size_of(server_work const& work);
/// The text of a token of ours, and back; nothing for what is none.
[[nodiscard]] std::string wrapped_token(std::string_view token);
[[nodiscard]] std::optional<std::string> unwrapped_token(std::string_view text);

/// Each answers into `work.out`, or refuses.
[[nodiscard]] result<void> answer_tables(server_work& work);
[[nodiscard]] result<void> answer_create_table(server_work& work, entity_reader& reader);
[[nodiscard]] result<void> answer_delete_table(server_work& work);
[[nodiscard]] result<void> answer_one_table(server_work& work);
[[nodiscard]] result<void> answer_entity(server_work& work);
[[nodiscard]] result<void> answer_query(server_work& work);
[[nodiscard]] result<void> answer_change(server_work& work, entity_reader& reader);
[[nodiscard]] result<void> answer_batch(server_work& work, entity_reader& reader);
[[nodiscard]] result<void> answer_policies(server_work& work);
[[nodiscard]] result<void> answer_service(server_work& work);
[[nodiscard]] result<void> answer_preflight(server_work& work);

} // namespace detail
ENTITABLE_END_NAMESPACE
