// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Writes responses as the service does: entities and lists at each level of metadata, errors in JSON and XML, the parts of the response
/// to a transaction. All functions append.

#include <entitable/cloud/wire/detail/service_error.hpp>
#include <entitable/core/etag.hpp>
#include <entitable/core/request/requests.hpp>

#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The amount of type and address information in a response.
enum class metadata_level : std::uint8_t { none, minimal, full };

/// Returns the level that a client requests, by `$format` or otherwise by Accept; nullopt if it does not accept JSON.
[[nodiscard]] std::optional<metadata_level> metadata_asked_for(std::string_view format, std::string_view accept);
/// Returns the value of Content-Type.
[[nodiscard]] std::string_view content_type_of(metadata_level level) noexcept;

/// The values shared by all responses to one request.
struct answer_style {
    std::string_view base; ///< address of the service, without a slash at its end
    std::string_view account;
    metadata_level metadata{metadata_level::minimal};
};

/// Appends a single entity. Selected properties that are absent are null.
void append_answer_entity(std::string& out, row_view entity, etag const& version, std::string_view table,
    projection const& select, answer_style const& style);
/// Appends the entities of a page, separated by commas, with a leading comma unless the list is still empty, as `first` says. Leaves out
/// those of the partition `hidden`. Returns whether the list is still empty.
[[nodiscard]] bool append_answer_page(std::string& out, page const& rows, bool first, std::string_view table,
    projection const& select, answer_style const& style, std::string_view hidden);
/// Appends `{"odata.metadata":"...","value":[`, which "]}" ends.
void append_list_start(std::string& out, std::string_view table, projection const& select, answer_style const& style);
/// Appends a table, alone or as an item of a list.
void append_answer_table(std::string& out, std::string_view table, answer_style const& style, bool alone);

/// The identifiers and the time in each error response.
struct refusal_marks {
    std::string_view request_id;
    date_time time;
};

void append_json_refusal(std::string& out, service_error const& refusal, refusal_marks const& marks);
void append_xml_refusal(std::string& out, service_error const& refusal, refusal_marks const& marks);

/// Returns the reason phrase, "No Content" for 204.
[[nodiscard]] std::string_view reason_of(std::uint16_t status) noexcept;

/// Returns the time that an ETag was made from; nullopt for other ETags.
[[nodiscard]] std::optional<date_time> time_of(etag const& version);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/answer_writer.ipp>
#endif
