// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Answers as the service writes them: entities and lists at each level of metadata, refusals in JSON and XML, the parts of the
/// answer to a transaction. Everything is appended.

#include <entitable/core/etag.hpp>
#include <entitable/request/requests.hpp>
#include <entitable/wire/detail/service_error.hpp>

#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// How much an answer says of types and addresses.
enum class metadata_level : std::uint8_t { none, minimal, full };

/// The level that a client asks for, by `$format` or else by Accept; nothing when it takes no JSON.
[[nodiscard]] std::optional<metadata_level> metadata_asked_for(std::string_view format, std::string_view accept);
/// The value of Content-Type.
[[nodiscard]] std::string_view content_type_of(metadata_level level) noexcept;

/// What the answers of one request have in common.
struct answer_style {
    std::string_view base; ///< address of the service, without a slash at its end
    std::string_view account;
    metadata_level metadata{metadata_level::minimal};
};

/// One entity by itself. Of properties that are selected, those that are absent are null.
void append_answer_entity(std::string& out, row_view entity, etag const& version, std::string_view table,
    projection const& select, answer_style const& style);
/// All entities of a page, with commas between them, and before the first one unless it is the first of the list.
void append_answer_page(std::string& out, page const& rows, bool first, std::string_view table,
    projection const& select, answer_style const& style);
/// `{"odata.metadata":"...","value":[`, which "]}" ends.
void append_list_start(std::string& out, std::string_view table, projection const& select, answer_style const& style);
/// A table by itself, or as one of a list.
void append_answer_table(std::string& out, std::string_view table, answer_style const& style, bool alone);

/// What is said with each refusal.
struct refusal_marks {
    std::string_view request_id;
    date_time time;
};

void append_json_refusal(std::string& out, service_error const& refusal, refusal_marks const& marks);
void append_xml_refusal(std::string& out, service_error const& refusal, refusal_marks const& marks);

/// "No Content" for 204.
[[nodiscard]] std::string_view reason_of(std::uint16_t status) noexcept;

/// The time that an ETag was made of; nothing where it is another one.
[[nodiscard]] std::optional<date_time> time_of(etag const& version);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/wire/impl/answer_writer.ipp>
#endif
