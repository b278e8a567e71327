// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/serve/server/detail/token_parts.hpp>

#include <simdjson.h>

#include <array>
#include <limits>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL bool append_from_base64url(std::string& out, std::string_view text) {
    if (text.size() % 4 == 1) { return false; }
    std::uint32_t bits = 0;
    int count = 0;
    for (char const each : text) {
        int const digit = each >= 'A' && each <= 'Z' ? each - 'A'
            : each >= 'a' && each <= 'z'             ? each - 'a' + 26
            : each >= '0' && each <= '9'             ? each - '0' + 52
            : each == '-'                            ? 62
            : each == '_'                            ? 63
                                                     : -1;
        if (digit < 0) { return false; }
        bits = (bits << 6U | static_cast<std::uint32_t>(digit)) & 0xFFFFU;
        count += 6;
        if (count >= 8) {
            count -= 8;
            out += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
        }
    }
    return (bits & ((1U << static_cast<unsigned>(count)) - 1U)) == 0; // a second form of the same bytes is refused
}

/// An object of JSON whose members are read once each.
class token_object {
public:
    /// False unless `text` is an object without a repeated member.
    [[nodiscard]] bool parse(std::string_view text) {
        if (parser_.parse(text.data(), text.size()).get(object_) != simdjson::SUCCESS) { return false; }
        constexpr std::size_t most = 256;
        if (object_.size() > most) { return false; }
        for (auto const one : object_) {
            std::size_t times = 0;
            for (auto const other : object_) { times += one.key == other.key ? 1U : 0U; }
            if (times != 1) { return false; }
        }
        return true;
    }
    [[nodiscard]] bool has(std::string_view name) const { return object_[name].error() == simdjson::SUCCESS; }
    /// Reads a text. False if it is another type; an absent text is empty.
    [[nodiscard]] bool read(std::string_view name, std::string& to) const {
        if (!has(name)) { return true; }
        std::string_view text;
        if (object_[name].get(text) != simdjson::SUCCESS) { return false; }
        to = text;
        return true;
    }
    /// Reads a number of seconds. False if it is absent, or beyond the year 9999.
    [[nodiscard]] bool read(std::string_view name, std::int64_t& to) const {
        double number = 0;
        if (object_[name].get(number) != simdjson::SUCCESS) { return false; }
        constexpr double limit = 253'402'300'800;
        if (!(number >= 0 && number < limit)) { return false; }
        to = static_cast<std::int64_t>(number);
        return true;
    }
    /// Reads a text, or an array of texts.
    [[nodiscard]] bool read(std::string_view name, std::vector<std::string>& to) const {
        simdjson::dom::array array;
        if (object_[name].get(array) != simdjson::SUCCESS) {
            to.emplace_back();
            return read(name, to.back()) && !to.back().empty();
        }
        constexpr std::size_t most = 64;
        for (auto const each : array) {
            std::string_view text;
            if (each.get(text) != simdjson::SUCCESS || to.size() == most) { return false; }
            to.emplace_back(text);
        }
        return true;
    }

private:
    simdjson::dom::parser parser_;
    simdjson::dom::object object_;
};

ENTITABLE_DECL std::optional<token_parts> parse_token(std::string_view token) {
    constexpr std::size_t most = 16 * 1024;
    std::size_t const first = token.find('.');
    std::size_t const second = first == std::string_view::npos ? first : token.find('.', first + 1);
    if (token.size() > most || second == std::string_view::npos ||
        token.find('.', second + 1) != std::string_view::npos) {
        return std::nullopt;
    }
    token_parts made;
    std::string header;
    std::string claims;
    made.signed_text = token.substr(0, second);
    if (!append_from_base64url(header, token.substr(0, first)) ||
        !append_from_base64url(claims, token.substr(first + 1, second - first - 1)) ||
        !append_from_base64url(made.signature, token.substr(second + 1))) {
        return std::nullopt;
    }
    token_object read;
    if (!read.parse(header) || read.has("crit") || !read.read("alg", made.algorithm) || made.algorithm.empty() ||
        !read.read("kid", made.key_id)) {
        return std::nullopt;
    }
    if (!read.parse(claims) || !read.read("iss", made.issuer) || !read.read("oid", made.object) ||
        !read.read("aud", made.audiences) || !read.read("exp", made.expires)) {
        return std::nullopt;
    }
    if (read.has("nbf") && !read.read("nbf", made.begins.emplace())) { return std::nullopt; }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
