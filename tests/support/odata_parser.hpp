// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Parses the text of a filter into a tree: an independent check of the writer, by the grammar in the service's
/// documentation.

#include <entitable/core/request/filter.hpp>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace entitable_test {

class odata_parser {
public:
    /// Returns nullopt for an invalid filter.
    static std::optional<entitable::filter> parse(std::string_view text) {
        odata_parser parser{text};
        if (!parser.disjunction() || !parser.rest_.empty()) { return std::nullopt; }
        return parser.made_;
    }

private:
    explicit odata_parser(std::string_view text) : rest_(text) {}

    bool take(std::string_view word) {
        if (!rest_.starts_with(word)) { return false; }
        rest_.remove_prefix(word.size());
        return true;
    }
    bool disjunction() {
        if (!conjunction()) { return false; }
        while (take(" or ")) {
            if (!conjunction()) { return false; }
            made_.nodes.push_back({entitable::filter_operator::any_of, {}, {}});
        }
        return true;
    }
    bool conjunction() {
        if (!condition()) { return false; }
        while (take(" and ")) {
            if (!condition()) { return false; }
            made_.nodes.push_back({entitable::filter_operator::all_of, {}, {}});
        }
        return true;
    }
    bool condition() {
        if (++depth_ > 500) { return false; }
        bool good = false;
        if (take("not ")) {
            good = condition();
            made_.nodes.push_back({entitable::filter_operator::negation, {}, {}});
        } else if (take("(")) {
            good = disjunction() && take(")");
        } else {
            good = comparison();
        }
        --depth_;
        return good;
    }
    bool comparison() {
        std::size_t const end = rest_.find(' ');
        if (end == std::string_view::npos || end == 0) { return false; }
        std::string name{rest_.substr(0, end)};
        rest_.remove_prefix(end);
        constexpr std::string_view words[] = {" eq ", " ne ", " lt ", " le ", " gt ", " ge "};
        for (std::size_t index = 0; index < 6; ++index) {
            if (take(words[index])) {
                auto const operand = constant();
                if (!operand) { return false; }
                made_.nodes.push_back({static_cast<entitable::filter_operator>(index), std::move(name), *operand});
                return true;
            }
        }
        return false;
    }
    std::optional<std::string> quoted() {
        std::string text;
        for (;;) {
            std::size_t const quote = rest_.find('\'');
            if (quote == std::string_view::npos) { return std::nullopt; }
            text.append(rest_.substr(0, quote));
            rest_.remove_prefix(quote + 1);
            if (!take("'")) { return text; }
            text += '\'';
        }
    }
    std::optional<entitable::value> constant() {
        using entitable::value_view;
        if (take("'")) {
            auto const text = quoted();
            return text ? std::optional{entitable::value{value_view{std::string_view{*text}}}} : std::nullopt;
        }
        if (take("datetime'")) {
            auto const time = entitable::date_time::parse(quoted().value_or(""));
            return time ? std::optional{entitable::value{value_view{*time}}} : std::nullopt;
        }
        if (take("guid'")) {
            auto const id = entitable::guid::parse(quoted().value_or(""));
            if (!id) { return std::nullopt; }
            return value_view{entitable::edm_type::guid,
                std::string_view{reinterpret_cast<char const*>(id->bytes.data()), id->bytes.size()}};
        }
        if (take("X'") || take("binary'")) {
            auto const digits = quoted().value_or("?");
            std::string bytes;
            if (digits.size() % 2 != 0 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
                return std::nullopt;
            }
            for (std::size_t at = 0; at < digits.size(); at += 2) {
                bytes += static_cast<char>(std::strtol(digits.substr(at, 2).c_str(), nullptr, 16));
            }
            return value_view{entitable::edm_type::binary, std::string_view{bytes}};
        }
        std::string const word{rest_.substr(0, rest_.find_first_of(" )"))};
        rest_.remove_prefix(word.size());
        if (word == "true" || word == "false") { return value_view{word == "true"}; }
        if (word.empty() || word.find_first_not_of("-.0123456789L") != std::string::npos) { return std::nullopt; }
        if (word.back() == 'L') {
            return value_view{static_cast<std::int64_t>(std::strtoll(word.c_str(), nullptr, 10))};
        }
        if (word.find('.') != std::string::npos) { return value_view{std::strtod(word.c_str(), nullptr)}; }
        return value_view{static_cast<std::int32_t>(std::strtol(word.c_str(), nullptr, 10))};
    }

    std::string_view rest_;
    entitable::filter made_;
    int depth_{0};
};

} // namespace entitable_test
