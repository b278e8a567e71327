// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Connection strings: any bytes give an answer without a secret in it. A parsed string means the same in another order
// and another case, and the endpoint is parsed back unchanged.

#include <entitable/cloud/account/connection_string.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

using namespace entitable;

namespace {

void require(bool fact) {
    if (!fact) { std::abort(); }
}

/// The same pairs in reverse order, names in the other case, with blanks.
std::string rewritten(std::string_view text) {
    std::string_view const byte_order_mark = "\xEF\xBB\xBF";
    if (text.substr(0, byte_order_mark.size()) ==
        byte_order_mark) { // editors put it in front of the whole text, not of a pair
        text.remove_prefix(byte_order_mark.size());
    }
    std::string out;
    while (!text.empty()) {
        std::string_view const pair = text.substr(0, text.find(';'));
        text.remove_prefix(pair.size() == text.size() ? pair.size() : pair.size() + 1);
        std::string changed{pair};
        for (char& c : changed) {
            if (c == '=') { break; }
            bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            c = letter ? static_cast<char>(c ^ 0x20) : c;
        }
        out.insert(0, " " + changed + "\t;");
    }
    return out;
}

/// The URL and the authorization of a request to list tables.
std::string authorized(connection_settings const& settings) {
    http_request request;
    request.url = settings.endpoint.primary + "/Tables?comp=x";
    auto const done = settings.credential.authorize(request, settings.endpoint, date_time::from_date(2026, 11, 20));
    return request.url + "\n" + (done ? std::string{request.headers.text()} : done.error().message);
}

/// Errors contain only words of the library, names of fields, and numbers.
void require_own_words(std::string_view said) {
    static std::string const words = [] {
        std::string all{
            " InvalidInput (400): connection string: pair has no = an unknown name is repeated empty must be true and "
            "cannot be combined missing or needs UseDevelopmentStorage=true https http 1 to 63 lower-case letters, "
            "digits and hyphens does not name an account of a space or a control character that is not ASCII "
            "backslash not have a fragment % without two hexadecimal digits begin with https:// or http:// user or "
            "password port from 1 to 65535 query a host with invalid characters the known names are and the endpoints "
            "of "
            "other services whole string in quotes: remove them contains line end AccountEndpoint belongs to SQL API "
            "Cosmos DB: use connection string its Table which address of the service only: remove the table host, "
            "base64 more than one sig + its sig; write it as %2B invalid time se st letters digits "};
        for (std::string_view const name : detail::connection_pairs::names) { all.append(name).append(" "); }
        return all;
    }();
    while (!said.empty()) {
        std::string_view word = said.substr(0, said.find(' '));
        said.remove_prefix(word.size() == said.size() ? word.size() : word.size() + 1);
        if (word.find_last_of(",;") + 1 == word.size() && !word.empty()) { word.remove_suffix(1); }
        bool const number = word.size() < 6 && word.find_first_not_of("0123456789") == std::string_view::npos;
        require(number || words.find(" " + std::string{word} + " ") != std::string::npos);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    auto const parsed = parse_connection_string(text);
    auto const again = parse_connection_string(rewritten(text));
    require(parsed.has_value() == again.has_value());
    if (!parsed) {
        require(parsed.error().code == error_code::invalid_input);
        require(parsed.error().detail.empty());
        require_own_words(parsed.error().to_string());
        return 0;
    }
    endpoint const& at = parsed->endpoint;
    require(at.primary == again->endpoint.primary && at.secondary == again->endpoint.secondary);
    require(authorized(*parsed) == authorized(*again));
    require(parse_url(at.primary, "primary").has_value());
    auto const back = endpoint::parse(at.primary, at.secondary, at.account);
    require(back.has_value());
    require(back->primary == at.primary && back->secondary == at.secondary && back->account == at.account);
    require(back->kind == at.kind && back->path_style == at.path_style);
    return 0;
}
