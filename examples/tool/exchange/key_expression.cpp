// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "key_expression.hpp"

#include <entitable/client/mapping/key_adaptors.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace tool {

namespace {

using entitable::error_code;
using entitable::failure;

constexpr std::size_t max_width = 19;

/// Appends the text of a component that was made before.
bool append_text(std::string& out, void const* value) {
    out += *static_cast<std::string_view const*>(value);
    return true;
}
bool append_escaped_text(std::string& out, void const* value) {
    return entitable::escaped_codec<std::string>::append(out, *static_cast<std::string_view const*>(value));
}

} // namespace

entitable::result<key_expression> key_expression::parse(std::string_view given) {
    auto const wrong = [&](std::string_view why) {
        return failure{error_code::invalid_input,
            entitable::text::joined({"the key expression \"", entitable::text::printable(given), "\" ", why})};
    };
    key_expression made;
    std::string_view rest = given;
    do {
        if (!made.parts_.empty()) { rest.remove_prefix(1); } // the + before this component
        part one;
        if (rest.starts_with('\'')) {
            std::size_t const end = rest.find('\'', 1);
            if (end == std::string_view::npos) { return wrong("has a quote without an end"); }
            one.text = rest.substr(1, end - 1);
            one.literal = true;
            rest.remove_prefix(end + 1);
            if (!rest.empty() && rest.front() != '+') { return wrong("has text after a quote; join components by +"); }
            if (one.text.empty()) { return wrong("has an empty text in quotes"); }
        } else {
            std::string_view const component = rest.substr(0, rest.find('+'));
            rest.remove_prefix(component.size());
            std::size_t const colon = component.rfind(':');
            one.text = component.substr(0, colon);
            if (one.text.empty()) { return wrong("lacks the name of a column"); }
            if (colon != std::string_view::npos) {
                std::string_view const how = component.substr(colon + 1);
                if (how == "escaped") {
                    one.escaped = true;
                } else {
                    auto const read = std::from_chars(how.data(), how.data() + how.size(), one.width);
                    bool const good = !how.empty() && read.ec == std::errc{} && read.ptr == how.data() + how.size();
                    if (!good || one.width < 1 || one.width > max_width) {
                        return wrong("needs a width from 1 to 19, or the word escaped, after the colon");
                    }
                }
            }
            made.columns_.push_back(one.text);
        }
        made.parts_.push_back(std::move(one));
    } while (!rest.empty());
    if (made.parts_.size() > entitable::max_key_components) { return wrong("has more than 16 components"); }
    if (made.columns_.empty()) { return wrong("names no column, so that all rows would have one key"); }
    part const& first = made.parts_.front();
    made.plain_ = made.parts_.size() == 1 && !first.escaped && first.width == 0;
    return made;
}

key_expression key_expression::column(std::string name) {
    key_expression made;
    made.columns_.push_back(name);
    made.parts_.push_back({std::move(name)});
    made.plain_ = true;
    return made;
}

entitable::result<void> key_expression::append_padded(std::string& key, part const& one, std::string_view text) const {
    std::string_view digits = text;
    bool const number = !digits.empty() &&
        std::all_of(digits.begin(), digits.end(), [](char each) { return each >= '0' && each <= '9'; });
    while (digits.size() > 1 && digits.front() == '0') { digits.remove_prefix(1); }
    if (!number || digits.size() > one.width) {
        return failure{error_code::invalid_input,
            entitable::text::joined(
                {"the column ", one.text, " holds \"", entitable::text::printable(entitable::text::shortened(text)),
                    "\", which is not a whole number of at most ", std::to_string(one.width), " digits"})};
    }
    key.append(one.width - digits.size(), '0').append(digits);
    return {};
}

entitable::result<void> key_expression::append(std::string& key, find_text const& find) const {
    auto const absent = [](part const& one) {
        return failure{error_code::invalid_input,
            entitable::text::joined({"the column ", one.text, " has no value, but is part of a key"})};
    };
    if (parts_.size() == 1 && !parts_.front().escaped) {
        part const& one = parts_.front();
        auto const found = find(0);
        if (!found || (found->empty() && !plain_)) { return absent(one); }
        if (one.width != 0) { return append_padded(key, one, *found); }
        key += *found;
        return {};
    }
    std::array<entitable::key_component, entitable::max_key_components> layout;
    std::array<entitable::key_source, entitable::max_key_components> sources{};
    std::array<std::string_view, entitable::max_key_components> texts;
    std::array<std::string, entitable::max_key_components> padded;
    std::size_t members = 0;
    for (std::size_t at = 0; at < parts_.size(); ++at) {
        part const& one = parts_[at];
        layout[at].name = one.text;
        if (one.literal) {
            layout[at].is = entitable::key_component::kind::literal;
            continue;
        }
        auto const found = find(members);
        if (!found || found->empty()) { return absent(one); }
        texts[members] = *found;
        if (one.width != 0) {
            ENTITABLE_CHECK(append_padded(padded[members], one, *found));
            texts[members] = padded[members];
        }
        layout[at].escaped = one.escaped;
        sources[members] = {&texts[members], one.escaped ? append_escaped_text : append_text};
        ++members;
    }
    return entitable::append_key(key, entitable::key_layout{layout.data(), parts_.size()}, sources.data());
}

} // namespace tool
