// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// One request in progress in a server, and the handlers of each kind of request.

#include <entitable/cloud/account/detail/access_check.hpp>
#include <entitable/cloud/http/http_message.hpp>
#include <entitable/cloud/wire/detail/answer_writer.hpp>
#include <entitable/cloud/wire/detail/batch_request.hpp>
#include <entitable/cloud/wire/detail/service_address.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/serve/server/detail/server_engine.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The state that the handlers share.
struct server_work {
    server_engine& engine;
    http_request const& request;
    http_response& out;
    service_address address;
    http_method method{http_method::get}; ///< the effective method: X-HTTP-Method may override it
    account_state* account{};
    access_grant grant;
    answer_style style;
    call context;
    std::string request_id;
    date_time now;
    std::string_view name{"http"}; ///< name of the operation, for the observer
};

/// The permissions that a signature needs for an operation: one letter of each group, and one of the resource types.
struct needed_rights {
    std::string_view letters;
    std::string_view also{};
    std::string_view resource{"o"};
    bool on_table{}; ///< a signature for one table is sufficient
};

/// Errors, as `refused` makes them: AuthorizationPermissionMismatch, AuthorizationResourceTypeMismatch, AuthorizationFailure.
[[nodiscard]] result<void> check_rights(access_grant const& grant, std::string_view table, needed_rights const& needed);
/// Returns AuthorizationFailure for an entity outside the signature's bounds.
[[nodiscard]] result<void> check_reach(
    access_grant const& grant, std::string_view partition_key, std::string_view row_key);

/// Converts a transport's error to an error response.
[[nodiscard]] failure refused_by_store(error const& problem);

/// One change: the parts of its request, and the resulting mutation.
struct sent_change {
    http_method method{};
    change_fields const& fields;
    std::string_view body;
    service_address const& address; ///< names the table for an insert, otherwise the entity
    bool ignores_keys{};            ///< the keys of the address count, whatever the body names
};

/// Reads a change into a new mutation and checks that it is permitted.
[[nodiscard]] result<void> read_change(
    sent_change const& sent, access_grant const& grant, entity_reader& reader, mutation& out);
/// Whether the response to an insert must omit the entity, by the field Prefer.
[[nodiscard]] bool wants_no_content(std::optional<std::string_view> prefer) noexcept;
/// Appends the JSON of an entity that was just inserted.
void append_inserted(
    std::string& out, row const& entity, etag const& version, std::string_view table, answer_style const& style);
/// Returns "BASE/T(PartitionKey='..',RowKey='..')".
[[nodiscard]] std::string location_of(server_work const& work, std::string_view table, row_view entity);

/// Returns an option of the query. Errors: InvalidQueryParameterValue if the option is repeated.
[[nodiscard]] result<std::optional<std::string>> option_of(server_work const& work, std::string_view name);
/// Returns `$top`: 1 to 1000; 0 for an empty page.
[[nodiscard]] result<std::uint32_t> page_size_of(server_work const& work);
/// Encodes a transport's token; `unwrapped_token` decodes it, nullopt if malformed.
[[nodiscard]] std::string wrapped_token(std::string_view token);
[[nodiscard]] std::optional<std::string> unwrapped_token(std::string_view text);

/// Each of these functions writes a response to `work.out`, or returns an error.
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
void add_cors_fields(server_work& work);

} // namespace detail
ENTITABLE_END_NAMESPACE
