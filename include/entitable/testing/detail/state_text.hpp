// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// States of a `stage` as text: equal texts mean equal states.

#include <entitable/testing/contents.hpp>

#include <map>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::detail {

/// Formats an ETag, between \x01 and \x02 until `renamed_etags`.
[[nodiscard]] inline std::string shown_etag(etag const& version) {
    return '\x01' + std::string{version.to_string()} + '\x02';
}
/// Formats a row with its properties.
[[nodiscard]] inline std::string shown_row(row_view each) {
    std::string text = shown_keys(each) + shown_etag(each.etag());
    for (auto const& [name, content] : present_properties(each, shown::data)) {
        text += name + '=' + shown_value(content) + ',';
    }
    return text;
}
/// Formats a response, as far as operations can distinguish it from other responses.
template <class T>
[[nodiscard]] std::string shown_answer(result<T> const& answered) {
    if (!answered) {
        error const& problem = answered.error();
        return std::string{to_string(problem.code)} + (problem.effect == effect::none ? "" : "?") +
            (problem.operation_index ? std::to_string(*problem.operation_index) : "");
    }
    std::string text = "ok ";
    if constexpr (std::same_as<T, written>) {
        text += shown_etag(answered->etag);
    } else if constexpr (std::same_as<T, transact::response>) {
        for (written const& each : answered->results) { text += shown_etag(each.etag); }
    } else if constexpr (std::same_as<T, get_entity::response>) {
        text += shown_row(answered->entity.view());
    } else if constexpr (std::same_as<T, query_entities::response>) {
        for (std::size_t index = 0; index < answered->rows.size(); ++index) {
            text += shown_row(answered->rows[index]);
        }
        text += answered->continuation ? "more" : "";
    }
    return text;
}
/// Replaces ETags with names in order of first appearance.
[[nodiscard]] inline std::string renamed_etags(std::string const& text) {
    std::map<std::string, std::size_t> names;
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\x01') {
            out += text[at];
            continue;
        }
        std::size_t const end = text.find('\x02', at);
        out += '#' + std::to_string(names.try_emplace(text.substr(at, end - at), names.size()).first->second);
        at = end;
    }
    return out;
}

} // namespace testing::detail
ENTITABLE_END_NAMESPACE
