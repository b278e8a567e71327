// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/cloud/wire/detail/answer_text.hpp>
#include <entitable/cloud/wire/detail/error_answer.hpp>
#include <entitable/cloud/wire/impl/http_date.ipp>
#include <entitable/cloud/wire/impl/json_reader.ipp>
#include <entitable/cloud/wire/impl/xml.ipp>
#include <entitable/core/detail/error_codes.hpp>
#include <entitable/core/error.hpp>
#include <entitable/core/text.hpp>

#include <charconv>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Splits the service's message into its first line, the index before that, and the request id after it.
ENTITABLE_DECL void read_error_message(error_answer& out, std::string_view message) {
    constexpr std::size_t limit = 1024;
    std::string_view first = message.substr(0, message.find('\n'));
    for (std::string_view const name : {"RequestId:", "RequestID:"}) {
        std::size_t const at = message.find(name);
        if (out.request_id.empty() && at != std::string_view::npos) {
            std::string_view const rest = message.substr(at + name.size());
            out.request_id = text::shortened(trimmed(rest.substr(0, rest.find('\n'))), 128);
        }
    }
    std::string_view rest = first;
    if (auto const index = leading_number<std::size_t>(rest); index && rest.starts_with(':')) {
        out.index = *index;
        first = rest.substr(1);
    }
    out.message = text::shortened(trimmed(first), limit);
}

ENTITABLE_DECL void read_error_body(error_answer& out, std::string_view body, json_reader& reader) {
    constexpr std::size_t limit = std::size_t{1024} * 1024; // no service sends larger messages
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    body.remove_prefix(body.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
    body = body.size() > limit ? std::string_view{} : trimmed(body);
    error_text said;
    if (body.starts_with('{')) {
        static_cast<void>(reader.read_error(body, said));
    } else if (body.starts_with('<')) {
        error_text found;
        bool const whole = read_xml(body, [&](xml_event event, std::string_view path, std::string_view content) {
            if (event == xml_event::closes && (path == "Error/Code" || path == "error/code")) {
                found.code = content;
            } else if (event == xml_event::closes && (path == "Error/Message" || path == "error/message")) {
                found.message = content;
            }
        });
        if (whole) { said = std::move(found); }
    }
    if (!said.code.empty()) { out.code = text::shortened(text::printable(said.code), 128); }
    read_error_message(out, said.message);
}

ENTITABLE_DECL std::optional<std::chrono::milliseconds> retry_after_of(http_headers const& headers) noexcept {
    constexpr std::int64_t limit = 1'000'000'000'000;
    for (std::string_view const name : {"x-ms-retry-after-ms", "retry-after-ms", "Retry-After"}) {
        auto const field = headers.find(name);
        if (!field) { continue; }
        std::string_view digits = trimmed(*field);
        std::int64_t const unit = name == "Retry-After" ? 1000 : 1;
        if (!digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos) {
            auto const number = leading_number<std::int64_t>(digits).value_or(limit);
            return std::chrono::milliseconds{number > limit / unit ? limit : number * unit};
        }
        auto const until = parse_http_date(digits);
        auto const now = parse_http_date(headers.find("Date").value_or(std::string_view{}));
        if (unit == 1000 && until && now) {
            return std::chrono::milliseconds{until->ticks > now->ticks ? (until->ticks - now->ticks) / 10'000 : 0};
        }
    }
    return std::nullopt;
}

ENTITABLE_DECL error_answer read_error_answer(http_response const& response, json_reader& reader) {
    error_answer answer;
    answer.status = response.status;
    answer.request_id = text::shortened(response.headers.find("x-ms-request-id").value_or(std::string_view{}), 128);
    read_error_body(answer, response.body, reader);
    if (answer.code.empty()) {
        answer.code = text::shortened(
            text::printable(response.headers.find("x-ms-error-code").value_or(std::string_view{})), 128);
    }
    answer.retry_after = retry_after_of(response.headers);
    return answer;
}

ENTITABLE_DECL error_code code_of(std::string_view word, std::uint16_t status) noexcept {
    struct alias {
        std::string_view word;
        error_code code;
    };
    constexpr alias aliases[] = {
        {"EntityNotFound", error_code::resource_not_found},
        {"ConditionNotMet", error_code::update_condition_not_satisfied},
        {"ContentLengthExceeded", error_code::request_body_too_large},
        {"TooManyRequests", error_code::server_busy},
        {"Unauthorized", error_code::authentication_failed},
        {"InvalidAuthenticationInfo", error_code::authentication_failed},
        {"AuthorizationPermissionMismatch", error_code::authorization_failure},
        {"AuthorizationResourceTypeMismatch", error_code::authorization_failure},
        {"AuthorizationServiceMismatch", error_code::authorization_failure},
        {"AuthorizationProtocolMismatch", error_code::authorization_failure},
        {"AuthorizationSourceIPMismatch", error_code::authorization_failure},
        {"InsufficientAccountPermissions", error_code::authorization_failure},
        {"InvalidValueType", error_code::invalid_input},
        {"QueueNotFound", error_code::resource_not_found},
        {"MessageNotFound", error_code::resource_not_found},
        {"PopReceiptMismatch", error_code::receipt_lost},
        {"QueueBeingDeleted", error_code::table_being_deleted},
    };
    for (error_code_row const& row : error_code_table) {
        if (row.name == word && row.http_status != 0) { return row.code; }
    }
    for (alias const& each : aliases) {
        if (each.word == word) { return each.code; }
    }
    // An unknown code: these statuses are unambiguous by themselves. Cosmos DB throttles with the code "429", and reports an invalid
    // signature as Forbidden; Storage has NoAuthenticationInformation.
    bool const clear =
        status == 401 || status == 403 || status == 408 || status == 429 || status == 503 || status == 504;
    if (!word.empty() && !clear) { return error_code::other_service_error; }
    // Excludes 404, 409 and 412: without a code they may come from a proxy, with a different meaning.
    switch (status) {
        case 401: return error_code::authentication_failed;
        case 403: return error_code::authorization_failure;
        case 413: return error_code::request_body_too_large;
        case 429:
        case 502:
        case 503: return error_code::server_busy;
        case 408:
        case 504: return error_code::operation_timed_out;
        case 500: return error_code::internal_error;
        case 501: return error_code::not_implemented;
        default: return error_code::other_service_error;
    }
}

ENTITABLE_DECL failure to_failure(error_answer answer, std::string_view request, bool writes) {
    failure made{code_of(answer.code, answer.status),
        text::joined({"the service answered ", request, " with ",
            answer.code.empty() ? std::to_string(answer.status) : answer.code})};
    error& problem = made.error();
    problem.http_status = answer.status;
    problem.server_message = std::move(answer.message);
    problem.request_id = std::move(answer.request_id);
    problem.operation_index = answer.index;
    problem.retry_after = answer.retry_after;
    // 408 may come from a proxy in front of the service, during the request.
    bool const definite = (answer.status >= 300 && answer.status < 500 && answer.status != 408) ||
        answer.status == 501 || answer.status == 505;
    problem.effect = writes && !definite ? effect::unknown : effect::none;
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
