// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A reader of JSON into a tree. Enough for the small files of the examples: whole texts in memory, an error is a line.

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace examples {

struct json_member;

struct json_value {
    enum class kind : std::uint8_t { null, boolean, number, text, array, object };
    kind is{kind::null};
    double number{}; ///< value of a number; 1 and 0 for true and false
    std::string text;
    std::vector<json_member> members; ///< members; arrays have no names

    /// The member of an object; null if there is none.
    [[nodiscard]] json_value const* find(std::string_view name) const;
};

struct json_member {
    std::string name;
    json_value value;
};

inline json_value const* json_value::find(std::string_view name) const {
    for (json_member const& each : members) {
        if (is == kind::object && each.name == name) { return &each.value; }
    }
    return nullptr;
}

class json_reader {
public:
    /// Returns nullopt for invalid JSON; `line()` is the position.
    [[nodiscard]] std::optional<json_value> read(std::string_view text) {
        text_ = text;
        at_ = 0;
        json_value made;
        bool const good = value(made, 0) && next() == '\0' && at_ >= text_.size();
        return good ? std::optional{std::move(made)} : std::nullopt;
    }
    [[nodiscard]] int line() const {
        int lines = 1;
        for (char const each : text_.substr(0, at_)) { lines += each == '\n' ? 1 : 0; }
        return lines;
    }

private:
    /// The next character that is not a blank, without consuming it.
    char next() {
        while (at_ < text_.size() && std::string_view{" \t\r\n"}.find(text_[at_]) != std::string_view::npos) { ++at_; }
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char wanted) {
        bool const there = next() == wanted;
        at_ += there ? 1 : 0;
        return there;
    }
    bool word(std::string_view wanted) {
        bool const there = text_.substr(at_, wanted.size()) == wanted;
        at_ += there ? wanted.size() : 0;
        return there;
    }
    bool value(json_value& into, int depth) {
        using kind = json_value::kind;
        switch (next()) {
            case '{': return depth < 32 && list(into, kind::object, '}', depth);
            case '[': return depth < 32 && list(into, kind::array, ']', depth);
            case '"': into.is = kind::text; return string(into.text);
            case 't': into = {kind::boolean, 1, {}, {}}; return word("true");
            case 'f': into = {kind::boolean, 0, {}, {}}; return word("false");
            case 'n': return word("null");
            default: break;
        }
        std::string const digits{text_.substr(at_, text_.find_first_not_of("+-.0123456789eE", at_) - at_)};
        char* end = nullptr;
        into = {kind::number, std::strtod(digits.c_str(), &end), {}, {}};
        at_ += digits.size();
        return !digits.empty() && end == digits.c_str() + digits.size();
    }
    bool list(json_value& into, json_value::kind is, char close, int depth) {
        into.is = is;
        ++at_;
        if (take(close)) { return true; }
        do {
            auto& [name, member] = into.members.emplace_back();
            if (is == json_value::kind::object && !(next() == '"' && string(name) && take(':'))) { return false; }
            if (!value(member, depth + 1)) { return false; }
        } while (take(','));
        return take(close);
    }
    bool string(std::string& into) {
        for (++at_; at_ < text_.size(); ++at_) {
            char const each = text_[at_];
            if (each == '"') {
                ++at_;
                return true;
            }
            if (each != '\\') {
                into += each;
                continue;
            }
            constexpr std::string_view names = "\"\\/bfnrt";
            constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
            std::size_t const found = ++at_ < text_.size() ? names.find(text_[at_]) : std::string_view::npos;
            if (found == std::string_view::npos) {
                return false; // \u is not needed: the file is UTF-8
            }
            into += meanings[found];
        }
        return false;
    }

    std::string_view text_;
    std::size_t at_{};
};

} // namespace examples
