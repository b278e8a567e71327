// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/detail/request_secrets.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/wipe.hpp>

#include <algorithm>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Strikes the pieces of one secret.
ENTITABLE_DECL void strike_secret(std::string& text, std::string_view secret) {
    constexpr std::size_t piece = 8;
    std::size_t const width = (std::min)(piece, secret.size());
    if (width == 0 || text.size() < width) { return; }
    std::vector<bool> struck(text.size(), false);
    bool any = false;
    for (std::size_t at = 0; at + width <= text.size(); ++at) {
        if (secret.find(std::string_view{text}.substr(at, width)) == std::string_view::npos) { continue; }
        any = true;
        std::fill_n(struck.begin() + static_cast<std::ptrdiff_t>(at), width, true);
    }
    if (!any) { return; }
    std::string made;
    made.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!struck[at]) {
            made += text[at];
        } else if (at == 0 || !struck[at - 1]) {
            made += "***";
        }
    }
    wipe(text.data(), text.size());
    text = made;
}

/// Strikes a secret of a query, as it was sent and without its escapes.
ENTITABLE_DECL void strike_escaped_secret(std::string& text, std::string_view secret) {
    strike_secret(text, secret);
    std::string plain;
    plain.reserve(secret.size());
    for (std::size_t at = 0; at < secret.size(); ++at) {
        int const high = secret[at] == '%' && at + 2 < secret.size() ? hexadecimal_digit(secret[at + 1]) : -1;
        int const low = high >= 0 ? hexadecimal_digit(secret[at + 2]) : -1;
        plain += low >= 0 ? static_cast<char>(static_cast<unsigned char>(high * 16 + low)) : secret[at];
        at += low >= 0 ? 2U : 0U;
    }
    if (plain != secret) { strike_secret(text, plain); }
    wipe(plain.data(), plain.size());
}

ENTITABLE_DECL void strike_secrets(std::string& text, http_request const& sent) {
    if (text.empty()) { return; }
    std::string_view authorization = sent.headers.find("Authorization").value_or(std::string_view{});
    authorization.remove_prefix((std::min)(authorization.find(' '), authorization.size()));
    if (std::size_t const colon = authorization.find(':'); colon != std::string_view::npos) {
        authorization.remove_prefix(colon + 1); // after the account
    } else if (!authorization.empty()) {
        authorization.remove_prefix(1);
    }
    strike_secret(text, authorization);
    std::string_view const url{sent.url};
    for (std::string_view const mark : {"?sig=", "&sig="}) {
        std::size_t const at = url.find(mark);
        if (at == std::string_view::npos) { continue; }
        std::string_view const value = url.substr(at + mark.size());
        strike_escaped_secret(text, value.substr(0, value.find('&')));
    }
}

ENTITABLE_DECL void strike_secrets(error& problem, http_request const& sent) {
    for (std::string* const text : {&problem.message, &problem.server_message, &problem.request_id}) {
        strike_secrets(*text, sent);
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
