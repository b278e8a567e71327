// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/cloud/http/impl/http_message.ipp>
#include <entitable/cloud/http/url.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline bool is_hexadecimal(char c) noexcept { return hexadecimal_digit(c) >= 0; }

/// Parses the number at the front of `text`, up to `limit` and without leading zeros; -1 if there is none.
inline int take_number(std::string_view& text, int limit) noexcept {
    int value = -1;
    while (!text.empty() && is_decimal(text.front()) && value != 0) {
        value = (value < 0 ? 0 : value * 10) + (text.front() - '0');
        text.remove_prefix(1);
        if (value > limit) { return -1; }
    }
    return value;
}

/// Returns the first number of an IPv4 address in four decimal parts; -1 if `host` is not one.
inline int first_of_ipv4(std::string_view host) noexcept {
    int first = -1;
    for (int part = 0; part < 4; ++part) {
        if (part > 0) {
            if (host.empty() || host.front() != '.') { return -1; }
            host.remove_prefix(1);
        }
        int const number = take_number(host, 255);
        if (number < 0) { return -1; }
        first = part == 0 ? number : first;
    }
    return host.empty() ? first : -1;
}

inline bool is_host(std::string_view host) noexcept {
    bool const bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    for (char const c : bracketed ? host.substr(1, host.size() - 2) : host) {
        bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool const good = bracketed ? is_hexadecimal(c) || c == ':' || c == '.'
                                    : letter || is_decimal(c) || c == '.' || c == '-' || c == '_';
        if (!good) { return false; }
    }
    return !host.empty() && host.front() != '.';
}

ENTITABLE_DECL std::string_view wrong_character(std::string_view url) noexcept {
    for (std::size_t i = 0; (i = find_not_of_class(url, character_classes::url, i)) < url.size(); i += 3) {
        auto const byte = static_cast<unsigned char>(url[i]);
        if (byte <= 0x20 || byte == 0x7F) { return " contains a space or a control character"; }
        if (byte > 0x7F) { return " contains a character that is not ASCII"; }
        if (url[i] == '\\') { return " contains a backslash"; }
        if (url[i] == '#') { return " must not have a fragment"; }
        if (i + 2 >= url.size() || !is_hexadecimal(url[i + 1]) || !is_hexadecimal(url[i + 2])) {
            return " has a % without two hexadecimal digits";
        }
    }
    return {};
}

} // namespace detail

ENTITABLE_DECL bool url_parts::is_loopback() const noexcept {
    constexpr std::string_view name = "localhost";
    if (host.size() >= name.size() && detail::same_field_name(host.substr(host.size() - name.size()), name)) {
        return host.size() == name.size() || host[host.size() - name.size() - 1] == '.';
    }
    return host == "[::1]" || detail::first_of_ipv4(host) == 127;
}

ENTITABLE_DECL bool url_parts::is_link_local() const noexcept {
    return detail::first_of_ipv4(host) == 169 && host.starts_with("169.254.");
}

ENTITABLE_DECL bool url_parts::is_address() const noexcept {
    return (!host.empty() && host.front() == '[') || detail::first_of_ipv4(host) >= 0;
}

ENTITABLE_DECL result<url_parts> parse_url(std::string_view url, std::string_view field) {
    auto const refused = [&](std::string_view why) {
        return failure{error_code::invalid_input, text::joined({field, why})};
    };
    if (std::string_view const wrong = detail::wrong_character(url); !wrong.empty()) { return refused(wrong); }
    std::size_t const mark = url.find("://");
    std::string_view const scheme = url.substr(0, mark == std::string_view::npos ? 0 : mark);
    url_parts parts;
    parts.encrypted = detail::same_field_name(scheme, "https");
    if (!parts.encrypted && !detail::same_field_name(scheme, "http")) {
        return refused(" must begin with https:// or http://");
    }
    std::string_view rest = url.substr(mark + 3);
    std::size_t end = 0;
    while (end < rest.size() && rest[end] != '/' && rest[end] != '?') { ++end; }
    std::string_view authority = rest.substr(0, end);
    rest.remove_prefix(authority.size());
    if (authority.find('@') != std::string_view::npos) { return refused(" must not have a user or a password"); }
    std::size_t const bracket = authority.rfind(']');
    if (std::size_t const colon = authority.rfind(':');
        colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
        parts.port = authority.substr(colon + 1);
        std::string_view digits = parts.port;
        if (detail::take_number(digits, 65535) < 1 || !digits.empty()) {
            return refused(" must have a port from 1 to 65535");
        }
        authority = authority.substr(0, colon);
    }
    if (!detail::is_host(authority)) { return refused(" has no host, or a host with invalid characters"); }
    parts.host = authority;
    std::size_t const question = rest.find('?');
    parts.path = rest.substr(0, question);
    if (question != std::string_view::npos) { parts.query = rest.substr(question + 1); }
    return parts;
}

ENTITABLE_END_NAMESPACE
