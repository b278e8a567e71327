// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/cloud/identity/detail/token_exchange.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/guid.hpp>

#include <simdjson.h>

#include <charconv>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Appends a JSON text without its quotes and escapes; false if it is malformed. The parser's own function would leave a copy of the text in
/// memory that cannot be wiped. A token is ASCII: other characters are refused.
ENTITABLE_DECL bool append_json_text(std::string& out, std::string_view raw) {
    if (raw.size() < 2 || raw.front() != '"' || raw.back() != '"') { return false; }
    raw = raw.substr(1, raw.size() - 2);
    for (std::size_t at = 0; at < raw.size(); ++at) {
        char each = raw[at];
        if (static_cast<unsigned char>(each) < 0x20) { return false; }
        if (each == '\\') {
            constexpr std::string_view escapes = "\"\\/bfnrt";
            constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
            if (++at == raw.size()) { return false; }
            if (raw[at] == 'u') {
                int code = 0;
                for (int digit = 0; digit < 4; ++digit) {
                    int const value = ++at < raw.size() ? hexadecimal_digit(raw[at]) : -1;
                    code = value < 0 || code < 0 ? -1 : code * 16 + value;
                }
                if (code < 0) { return false; }
                each = code < 0x80 ? static_cast<char>(code) : '?';
            } else {
                std::size_t const index = escapes.find(raw[at]);
                if (index == std::string_view::npos) { return false; }
                each = meanings[index];
            }
        }
        out += each;
    }
    return true;
}

/// Parses a number, or a text of a number.
ENTITABLE_DECL std::optional<std::int64_t> expiry_seconds(std::string_view raw) noexcept {
    if (raw.size() >= 2 && raw.front() == '"' && raw.back() == '"') { raw = raw.substr(1, raw.size() - 2); }
    std::int64_t number = 0;
    auto const [end, problem] = std::from_chars(raw.data(), raw.data() + raw.size(), number);
    bool const fraction = end != raw.data() + raw.size() && *end == '.';
    if (problem != std::errc{} || (end != raw.data() + raw.size() && !fraction)) { return std::nullopt; }
    constexpr std::int64_t limit = 253'402'300'800; // the year 10000
    return number < -limit ? -limit : number > limit ? limit : number;
}

/// Returns the text if it is one of the errors of OAuth, Entra ID or IMDS: any other text might repeat a secret.
ENTITABLE_DECL std::string known_error(std::string_view text) {
    for (std::string_view const name : {"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client",
             "unsupported_grant_type", "invalid_scope", "invalid_resource", "access_denied", "server_error",
             "temporarily_unavailable", "interaction_required", "consent_required", "login_required", "unknown_source",
             "not_found", "slow_down", "unsupported_response_type", "invalid_tenant", "bad_request_102"}) {
        if (text == name) { return std::string{name}; }
    }
    return {};
}

/// Returns the digits after AADSTS in a description; nothing else of it is shown.
ENTITABLE_DECL std::string error_number(std::string_view description) {
    constexpr std::string_view mark = "AADSTS";
    std::size_t const at = description.find(mark);
    std::string digits;
    if (at == std::string_view::npos) { return digits; }
    for (char const each : description.substr(at + mark.size())) {
        if (!is_decimal(each) || digits.size() == 9) { break; }
        digits += each;
    }
    return digits;
}

ENTITABLE_DECL bool read_members(std::string const& body, token_answer& out) {
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    simdjson::ondemand::object members;
    if (parser.iterate(body.data(), body.size(), body.capacity()).get(document) != simdjson::SUCCESS ||
        document.get_object().get(members) != simdjson::SUCCESS) {
        return false;
    }
    bool found = false;
    std::string text;
    text.reserve(body.size());
    wiped_at_end const wiped{text};
    for (auto member : members) {
        simdjson::ondemand::raw_json_string
            name; // its text with escapes: the parser copies whole blocks, which reach into the value
        simdjson::ondemand::value value;
        if (member.key().get(name) != simdjson::SUCCESS || member.value().get(value) != simdjson::SUCCESS) {
            return false;
        }
        simdjson::ondemand::json_type type{};
        if (value.type().get(type) != simdjson::SUCCESS) { return false; }
        if (type == simdjson::ondemand::json_type::array || type == simdjson::ondemand::json_type::object) { continue; }
        std::string_view raw = value.raw_json_token();
        while (!raw.empty() && (raw.back() == ' ' || raw.back() == '\n' || raw.back() == '\r' || raw.back() == '\t')) {
            raw.remove_suffix(1);
        }
        wipe(text.data(), text.size());
        text.clear();
        bool const is_text = type == simdjson::ondemand::json_type::string;
        if (is_text && !append_json_text(text, raw)) { return false; }
        if (name == "access_token" || name == "accessToken") {
            if (found || !is_text) { return false; }
            found = true;
            out.token = secret{text};
        } else if (name == "expires_in") {
            out.expires_in = expiry_seconds(raw);
        } else if (name == "expires_on") {
            out.expires_on = expiry_seconds(raw);
        } else if (name == "expiresOn" && is_text) {
            out.local_expiry = text.substr(0, 32);
        } else if ((name == "token_type" || name == "tokenType") && is_text) {
            out.type = text.substr(0, 32);
        } else if (name == "resource" && is_text) {
            out.resource = text;
        } else if (name == "error" && is_text) {
            out.error_name = known_error(text);
        } else if (name == "error_description" && is_text) {
            out.number = error_number(text);
        } else if (name == "trace_id" && is_text) {
            if (auto const id = guid::parse(text)) { out.trace = id->to_string(); }
        } else if (name == "correlation_id" && is_text) {
            if (auto const id = guid::parse(text)) { out.correlation = id->to_string(); }
        }
    }
    char const* rest = nullptr;
    return document.current_location().get(rest) == simdjson::OUT_OF_BOUNDS;
}

ENTITABLE_DECL token_answer read_token_answer(std::string& body) {
    if (body.capacity() - body.size() < http_response::padding) { // growing would leave a copy behind
        std::string larger;
        larger.reserve(body.size() + http_response::padding);
        larger.append(body);
        wipe(body.data(), body.size());
        body = std::move(larger);
    }
    token_answer answer;
    answer.readable = read_members(body, answer);
    if (!answer.readable) { answer = {}; }
    wipe(body.data(), body.size());
    body.clear();
    return answer;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
